package sqlstmt

import (
	"fmt"
	"strings"
)

// The parsers take time and stack that grow faster than the text: 20000 nested
// parentheses cost oliphant 9.4 s. A statement beyond these limits is not read.
const (
	maxText  = 64 << 10
	maxDepth = 200
)

// refuse says why text must not be given to a parser, "" if it may.
func refuse(text string, d Dialect, style Style) string {
	if len(text) > maxText {
		return fmt.Sprintf("the text is longer than %d KiB", maxText>>10)
	}
	if strings.IndexByte(text, 0) >= 0 {
		return "the text holds a NUL byte, where the parsers would stop" // and not say so
	}
	// Most texts are too short to be too deep, or open too little.
	if len(text) <= maxDepth || openers(text) <= maxDepth {
		return ""
	}
	if scan(text, d, style).depth > maxDepth {
		return fmt.Sprintf("the text is nested deeper than %d", maxDepth)
	}
	return ""
}

// openers counts what could open a level of nesting.
func openers(text string) int {
	n := 0
	for i := range len(text) {
		switch text[i] {
		case '(', '[':
			n++
		case 'c', 'C':
			if i+4 <= len(text) && strings.EqualFold(text[i:i+4], "case") {
				n++
			}
		}
	}
	return n
}
