package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// machine is what the figures depend on.
func machine(ctx context.Context, bin string) string {
	kubectl, err := exec.CommandContext(ctx, filepath.Join(bin, "kubectl"), "version", "--client").Output()
	if err != nil {
		kubectl = []byte("kubectl: " + err.Error())
	}
	version, _, _ := strings.Cut(strings.TrimPrefix(string(kubectl), "Client Version: "), "\n")
	return fmt.Sprintf("%s, %d cores, %s of memory, %s/%s, %s, kubectl %s, load %s at the start",
		lineOf("/proc/cpuinfo", "model name"), runtime.NumCPU(), lineOf("/proc/meminfo", "MemTotal"),
		runtime.GOOS, runtime.GOARCH, runtime.Version(), version, load())
}

// lineOf is the value of a line such as "MemTotal: 8 kB"; "unknown" where the
// system has no such file.
func lineOf(file, name string) string {
	content, _ := os.ReadFile(file)
	for line := range strings.Lines(string(content)) {
		if key, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

// load is how many processes wanted to run in the last minute.
func load() string {
	content, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(content), " ")
	return first
}
