package flux

import (
	"fmt"
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
		if !joined && i+1 < len(args) {
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
		if name != "MigrateAPIVersion" {
			continue
		}
		var err error
		if c.MigratesVersions, err = strconv.ParseBool(strings.TrimSpace(value)); err != nil {
			return fmt.Errorf("%s is no truth value: %q", name, value)
		}
	}
	return nil
}
