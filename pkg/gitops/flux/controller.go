package flux

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/fluxcd/pkg/ssa/utils"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ControllerName is the Deployment of kustomize-controller, and ControllerHome
// the namespace in which Flux installs it.
const (
	ControllerName = "kustomize-controller"
	ControllerHome = "flux-system"
)

// Controller is what the flags of kustomize-controller decide about all that it
// applies. The zero value is a controller without flags.
type Controller struct {
	// Overrides are managers whose fields it takes over beside kubectl's; a name
	// stands for all that start with it.
	Overrides []string
	// ServiceAccount is what Kustomizations without one apply as; "" is the
	// controller's own.
	ServiceAccount string
	// MigratesVersions says that it moves managed fields to the version that a
	// manifest has.
	MigratesVersions bool
	// Lenient says that variables which nobody sets become empty.
	Lenient bool
	// NoRemoteBases and NoForeignSources say what Kustomizations may not use: a
	// base that lies elsewhere, a source of another namespace.
	NoRemoteBases, NoForeignSources bool
	// Early are kinds that it applies before most others.
	Early map[schema.GroupKind]struct{}
}

// ReadController reads the flags from a Deployment of the controller. The error
// names one that cannot be understood.
func ReadController(deployment map[string]any) (Controller, error) {
	var w struct {
		Spec struct {
			Template struct {
				Spec struct {
					Containers []struct {
						Name    string   `json:"name"`
						Image   string   `json:"image"`
						Command []string `json:"command"`
						Args    []string `json:"args"`
					} `json:"containers"`
				} `json:"spec"`
			} `json:"template"`
		} `json:"spec"`
	}
	if err := convert(deployment, &w); err != nil {
		return Controller{}, err
	}
	var c Controller
	for _, container := range w.Spec.Template.Spec.Containers {
		if container.Name != "manager" { // sidecars have flags of their own
			continue
		}
		c.Lenient = older(container.Image)
		if err := c.read(append(container.Command, container.Args...)); err != nil {
			return Controller{}, err
		}
		return c, nil
	}
	return c, fmt.Errorf("it has no container manager")
}

func (c *Controller) read(args []string) error {
	for i, arg := range args {
		name, value, joined := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if !strings.HasPrefix(arg, "--") {
			continue
		}
		switch isSwitch := name == "no-remote-bases" || name == "no-cross-namespace-refs"; {
		case isSwitch && !joined:
			value = "true"
		case !joined && i+1 < len(args):
			value = args[i+1]
		}
		if err := c.set(name, value); err != nil {
			return fmt.Errorf("--%s: %w", name, err)
		}
	}
	return nil
}

func (c *Controller) set(flag, value string) (err error) {
	switch flag {
	case "override-manager":
		c.Overrides = append(c.Overrides, value)
	case "default-service-account":
		c.ServiceAccount = value
	case "custom-apply-stage-kinds":
		c.Early, err = utils.ParseGroupKindSet(value)
	case "feature-gates":
		err = c.gates(value)
	case "no-remote-bases":
		c.NoRemoteBases, err = strconv.ParseBool(value)
	case "no-cross-namespace-refs":
		c.NoForeignSources, err = strconv.ParseBool(value)
	default:
		return nil
	}
	if err == nil && strings.Contains(value, "$(") {
		err = fmt.Errorf("its value comes from the environment: %s", value)
	}
	return err
}

func (c *Controller) gates(list string) error {
	for gate := range strings.SplitSeq(list, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(gate), "=")
		if name != "MigrateAPIVersion" && name != "StrictPostBuildSubstitutions" {
			continue
		}
		on, err := strconv.ParseBool(strings.TrimSpace(value))
		switch {
		case err != nil:
			return fmt.Errorf("%s is no truth value: %q", name, value)
		case name == "MigrateAPIVersion":
			c.MigratesVersions = on
		default:
			c.Lenient = !on
		}
	}
	return nil
}

// older says whether an image is of a controller before 1.9, which left
// variables empty that nobody sets.
func older(image string) bool {
	match := regexp.MustCompile(`:v?(\d+)\.(\d+)\.\d+`).FindStringSubmatch(image)
	if match == nil {
		return false
	}
	major, _ := strconv.Atoi(match[1])
	minor, _ := strconv.Atoi(match[2])
	return major == 0 || major == 1 && minor < 9
}
