package cli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/changeward/changeward/pkg/render"
)

// ClusterFlags say which cluster, as which user, and where its records are.
type ClusterFlags struct {
	Kube *genericclioptions.ConfigFlags
	// Target is a stored alias, or the cluster's name as its policy has it.
	Target string
	// State is where records are kept; "" is the cluster itself.
	State    string
	executor string
}

// NewClusterFlags makes the flags, and registers those of kubectl on a root,
// for all its verbs.
func NewClusterFlags(root *cobra.Command) *ClusterFlags {
	f := &ClusterFlags{Kube: genericclioptions.NewConfigFlags(true)}
	all := root.PersistentFlags()
	f.Kube.AddFlags(all)
	all.StringVar(&f.executor, "executor", "", "not supported")
	_ = all.MarkHidden("executor") // the flag was just defined
	mustRegister(root, "context", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		contexts, _, err := f.contexts()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return contexts, cobra.ShellCompDirectiveNoFileComp
	})
	return f
}

// AddFlags registers --target and --state on a verb.
func (f *ClusterFlags) AddFlags(cmd *cobra.Command, streams Streams) {
	f.AddTargetFlag(cmd, streams)
	cmd.Flags().StringVar(&f.State, "state", "", "where records are kept: empty for the cluster, or dir:PATH")
	mustRegister(cmd, "state", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return []string{"dir:"}, cobra.ShellCompDirectiveNoSpace
	})
}

// AddTargetFlag registers --target alone, on a verb about the cluster itself.
func (f *ClusterFlags) AddTargetFlag(cmd *cobra.Command, streams Streams) {
	cmd.Flags().StringVar(&f.Target, "target", "", "stored target (see connect), or the cluster's name as its policy has it")
	mustRegister(cmd, "target", CompleteTargets(streams))
}

// requestTimeout ends a request that a server leaves without an answer, where
// --request-timeout says nothing. Twice what an admission webhook may take.
const requestTimeout = time.Minute

// connection is where flags, target and environment lead.
type connection struct {
	config    *rest.Config
	namespace string         // default namespace of objects
	target    *render.Target // stored alias in use
	context   string         // of the kubeconfig; "" in a Pod
}

// resolve turns flags into a connection. It sends nothing.
func (f *ClusterFlags) resolve(streams Streams) (connection, error) {
	if err := f.refuseExecutor(streams); err != nil {
		return connection{}, err
	}
	var c connection
	targets, err := LoadTargets(streams.Env)
	if err != nil {
		return c, err
	}
	if target, found := targets.Find(f.Target); found {
		c.target = &target
		if err := f.applyTarget(target); err != nil {
			return c, err
		}
	}
	loader := f.Kube.ToRawKubeConfigLoader()
	raw, err := loader.RawConfig()
	if err != nil {
		return c, Fail(ReasonNoKubeconfig, fmt.Errorf("read kubeconfig: %w", err), "name another file with --kubeconfig or KUBECONFIG")
	}
	c.context = cmp.Or(*f.Kube.Context, raw.CurrentContext)
	if len(raw.Clusters) == 0 && *f.Kube.APIServer == "" && !inPod() {
		return c, Fail(ReasonNoKubeconfig, errors.New("no cluster is named: there is no kubeconfig"),
			"set KUBECONFIG, or give --kubeconfig or --server")
	}
	if c.config, err = loader.ClientConfig(); err != nil {
		return c, Fail(ReasonNoKubeconfig, fmt.Errorf("read kubeconfig: %w", err), contextHints(f, raw.Contexts)...)
	}
	if c.namespace, _, err = loader.Namespace(); err != nil {
		return c, Fail(ReasonNoKubeconfig, fmt.Errorf("read kubeconfig: %w", err))
	}
	c.config.QPS = -1 // the server says when it is too much (429), and is heeded
	c.config.Timeout = cmp.Or(c.config.Timeout, requestTimeout)
	c.config.UserAgent = "changeward"
	c.config.WarningHandler = rest.NoWarnings{} // packages that want them ask for them
	return c, nil
}

// cacheFolder is where the server's kinds and schemas are kept: beside
// kubectl's, as --cache-dir, KUBECACHEDIR or the home directory say; "" where
// nothing says.
func (f *ClusterFlags) cacheFolder(env func(string) string) string {
	base := *f.Kube.CacheDir
	if base == *genericclioptions.NewConfigFlags(false).CacheDir { // the flag was not given
		base = env("KUBECACHEDIR")
		if home := homeOf(env); base == "" && home != "" {
			base = filepath.Join(home, ".kube", "cache")
		}
	}
	if base == "" {
		return ""
	}
	return filepath.Join(base, "changeward")
}

// inPod says whether a service account of a Pod can be used.
func inPod() bool {
	_, err := rest.InClusterConfig()
	return err == nil
}

func contextHints[T any](f *ClusterFlags, contexts map[string]T) []string {
	if _, known := contexts[*f.Kube.Context]; known || *f.Kube.Context == "" {
		return nil
	}
	return []string{"the kubeconfig has these contexts: " + strings.Join(slices.Sorted(maps.Keys(contexts)), ", ")}
}

// applyTarget sets the flags that a target stands for. A flag that says
// something else is an error: nobody should have to know which one wins.
func (f *ClusterFlags) applyTarget(t render.Target) error {
	var problems []error
	set := func(flag string, value *string, stored string) {
		switch {
		case stored == "" || *value == stored:
		case *value == "":
			*value = stored
		case flag == "namespace":
		default:
			problems = append(problems, fmt.Errorf("--%s %s contradicts target %s, which has %s", flag, *value, t.Name, stored))
		}
	}
	set("context", f.Kube.Context, t.Context)
	set("namespace", f.Kube.Namespace, t.Namespace)
	set("kubeconfig", f.Kube.KubeConfig, t.Kubeconfig)
	if len(problems) > 0 {
		return Fail(ReasonWrongTarget, errors.Join(problems...), "leave out either --target or the other flag")
	}
	return nil
}

func (f *ClusterFlags) refuseExecutor(streams Streams) error {
	name := ""
	switch {
	case f.executor != "":
		name = "--executor"
	case streams.Env("CHANGEWARD_EXECUTOR_URL") != "":
		name = "CHANGEWARD_EXECUTOR_URL"
	default:
		return nil
	}
	return Fail(ReasonExecutor, fmt.Errorf("%s: there is no executor: plans and approvals are records in the cluster itself, in namespace changeward", name),
		"leave out "+name+"; your kubeconfig is all that is needed", "to keep records in files instead, use --state dir:PATH")
}

// contexts of the kubeconfig that the flags lead to, and the current one.
func (f *ClusterFlags) contexts() (names []string, current string, err error) {
	raw, err := f.Kube.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return nil, "", fmt.Errorf("read kubeconfig: %w", err)
	}
	return slices.Sorted(maps.Keys(raw.Contexts)), raw.CurrentContext, nil
}

// explicitKubeconfig is the kubeconfig that a stored target must name so that
// it leads to the same place later: the flag, or a single file of KUBECONFIG.
func explicitKubeconfig(flag string) string {
	if flag != "" {
		return flag
	}
	path := os.Getenv(clientcmd.RecommendedConfigPathEnvVar)
	if strings.ContainsRune(path, os.PathListSeparator) {
		return ""
	}
	return path
}
