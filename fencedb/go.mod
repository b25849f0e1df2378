module github.com/fencelint/fence/fencedb

go 1.25
