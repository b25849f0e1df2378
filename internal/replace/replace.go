// Package replace answers one question: how does a file get new contents as a whole, or not
// at all?
package replace

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Beside writes data to a new file in the directory of path, which has to be there, and
// returns its name. It has the mode of any new file, no other process has its name, and no
// link is followed. To rename it replaces path; on an error nothing is left.
func Beside(path string, data []byte) (temporary string, err error) {
	dir, name := filepath.Split(path)
	temporary = filepath.Join(dir, fmt.Sprintf(".%s.%d.%s.tmp", name, os.Getpid(), rand.Text()[:8]))
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return "", fmt.Errorf("writing %s: %w", path, err)
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(fmt.Errorf("writing %s: %w", path, err), os.Remove(temporary))
	}
	return temporary, nil
}

// File has a file hold data. A link stays, and what it leads to is replaced; what is no
// regular file, such as a device or a pipe, is written to.
func File(path string, data []byte) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	switch info, err := os.Stat(path); {
	case err == nil && !info.Mode().IsRegular():
		return os.WriteFile(path, data, 0o666)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	temporary, err := Beside(path, data)
	if err != nil {
		return err
	}
	if err := os.Rename(temporary, path); err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	return nil
}
