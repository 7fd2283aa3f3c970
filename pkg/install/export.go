package install

import (
	"context"
	"fmt"
	"io"

	"sigs.k8s.io/yaml"
)

// Export writes the YAML of all objects but keys and records, in the order in
// which they must be applied. Prepare with Options.Finish makes the rest.
func Export(ctx context.Context, cluster Cluster, options Options, out io.Writer) error {
	p, err := observe(ctx, cluster, options)
	if err != nil {
		return err
	}
	for n, i := range p.objects.all() {
		text, err := yaml.Marshal(i.want.Object)
		if err != nil {
			return fmt.Errorf("export %s: %w", i, err)
		}
		if n > 0 {
			text = append([]byte("---\n"), text...)
		}
		if _, err := out.Write(text); err != nil {
			return fmt.Errorf("export: %w", err)
		}
	}
	return nil
}
