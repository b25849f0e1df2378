package replace_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/fencelint/fence/internal/replace"
)

func TestFile(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "a"), filepath.Join(dir, "link")
	for _, text := range []string{"one", "two"} {
		if err := replace.File(file, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != text {
			t.Errorf("%q, %v", got, err)
		}
	}
	if err := os.Symlink("a", link); err != nil {
		t.Skipf("this needs symbolic links: run it where the temporary directory allows them: %v", err)
	}
	if err := replace.File(link, []byte("three")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v", err)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != "three" {
		t.Errorf("%q, %v", got, err)
	}
	if err := replace.File(filepath.Join(dir, "none", "b"), nil); err == nil {
		t.Error("a file in no directory")
	}
	if err := replace.File(dir, nil); err == nil {
		t.Error("a directory was replaced")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("%v is left, %v", left, err)
	}
}
