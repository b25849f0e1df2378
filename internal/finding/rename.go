package finding

import "slices"

// Rename returns the findings with other file names.
func Rename(fs []Finding, name func(file string) string) []Finding {
	renamed := slices.Clone(fs)
	for i := range renamed {
		f := &renamed[i]
		f.Location, f.End = f.Location.rename(name), f.End.rename(name)
		f.Related = slices.Clone(f.Related)
		for j := range f.Related {
			r := &f.Related[j]
			r.Location, r.End = r.Location.rename(name), r.End.rename(name)
		}
	}
	return renamed
}

func (p Place) rename(name func(file string) string) Place {
	p.File = name(p.File)
	return p
}
