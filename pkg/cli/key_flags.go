package cli

import "github.com/spf13/cobra"

// KeyFlags say what to sign with, and whether to ask.
type KeyFlags struct {
	Key string // private key file, or the .pub of a key in the agent
	Yes bool
}

// AddFlags registers --key and --yes on a verb.
func (k *KeyFlags) AddFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&k.Key, "key", "", "SSH key to sign with: a private key file, or the .pub of a key in the agent (default: the enrolled one)")
	k.AddYes(cmd)
}

// AddYes registers --yes alone.
func (k *KeyFlags) AddYes(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&k.Yes, "yes", "y", false, "answer all questions with yes")
}
