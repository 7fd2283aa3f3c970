package kubelet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	corev1 "k8s.io/api/core/v1"
)

// notStarted is the exit code of what never came to run.
const notStarted = 125

// container is what a Pod is about to run.
type container struct {
	dir     string // files of this Pod
	image   Image
	pod     *corev1.Pod
	command []string
	env     []string
	mounts  map[string]string // folder by the path in the container
}

// run runs it to its end.
func (c *container) run(ctx context.Context) Log {
	log := Log{Namespace: c.pod.Namespace, Job: c.pod.Labels[jobName], Pod: c.pod.Name}
	spec := c.pod.Spec.Containers[0]
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, "unshare", c.unshare()...)
	cmd.Env, cmd.Stdout, cmd.Stderr = c.env, &output, &output
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	err := cmd.Run()
	log.Output = output.String()
	var exited *exec.ExitError
	switch {
	case errors.As(err, &exited):
		log.ExitCode = exited.ExitCode()
	case err != nil:
		log.ExitCode, log.Output = notStarted, err.Error()
	}
	message, _ := os.ReadFile(filepath.Join(c.dir, terminationLog))
	if len(message) == 0 && log.ExitCode != 0 && spec.TerminationMessagePolicy == corev1.TerminationMessageFallbackToLogsOnError {
		message = []byte(log.Output[max(0, len(log.Output)-2048):])
	}
	log.Message = string(message[:min(len(message), 4096)])
	return log
}

// terminationLog is the name of the file in the Pod's folder.
const terminationLog = "termination-log"

// unshare are the arguments of unshare: a shell outside of the container's
// files makes these, then leaves for them.
func (c *container) unshare() []string {
	root := filepath.Join(c.dir, "root")
	var script strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&script, format+"\n", args...) }
	say("set -e; exec 3>&2; trap 'test $? = 0 || exit %d' EXIT", notStarted)
	say("mount -t tmpfs -o mode=755 none %s", root)
	say("cp -a %s/. %s", c.image.Root, root)
	for path, source := range c.mounts {
		say("mkdir -p %[2]s%[1]s && mount --bind %[3]s %[2]s%[1]s", path, root, source)
	}
	for path, source := range map[string]string{"/dev/null": "/dev/null", "/etc/hosts": "/etc/hosts",
		"/dev/termination-log": filepath.Join(c.dir, terminationLog)} {
		say("mkdir -p %[2]s%[3]s && touch %[2]s%[1]s && mount --bind %[4]s %[2]s%[1]s", path, root, filepath.Dir(path), source)
	}
	if security := c.pod.Spec.Containers[0].SecurityContext; security != nil && security.ReadOnlyRootFilesystem != nil && *security.ReadOnlyRootFilesystem {
		say("mount -o remount,ro %s", root)
	}
	chroot := "chroot"
	args := []string{"--mount"}
	if os.Geteuid() == 0 {
		chroot += fmt.Sprintf(" --userspec=%d:%d --groups=", c.user(), c.user())
	} else {
		args = append(args, "--user", "--map-root-user")
	}
	say(`exec %s %s "$@"`, chroot, root)
	return append(append(args, "/bin/sh", "-c", script.String(), "sh"), c.command...)
}

// user is whom the container runs as.
func (c *container) user() int64 {
	for _, own := range []*corev1.SecurityContext{c.pod.Spec.Containers[0].SecurityContext} {
		if own != nil && own.RunAsUser != nil {
			return *own.RunAsUser
		}
	}
	if all := c.pod.Spec.SecurityContext; all != nil && all.RunAsUser != nil {
		return *all.RunAsUser
	}
	return c.image.User
}

// expanded is a text in which $(NAME) stands for a variable, as in arguments.
func expanded(text string, env map[string]string) string {
	return regexp.MustCompile(`\$\(([A-Za-z_][A-Za-z0-9_.-]*)\)`).ReplaceAllStringFunc(text, func(found string) string {
		if value, set := env[found[2:len(found)-1]]; set {
			return value
		}
		return found
	})
}
