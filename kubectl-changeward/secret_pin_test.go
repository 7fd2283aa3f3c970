package main

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/pkg/install"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/state"
)

const pinSecret = `
apiVersion: v1
kind: Secret
metadata: {name: pin, namespace: NS}
stringData: {pin: "NEW"}
`

// TestAPINIsNotFoundFromAnyDigestWithoutTheKey plays a thief who has all
// outputs and records, knows the code, and tries every PIN. With the digest
// key he would succeed, which shows that he searches well.
func TestAPINIsNotFoundFromAnyDigestWithoutTheKey(t *testing.T) {
	s := shop{world: shared(t), dir: t.TempDir()}
	s.namespace = s.Namespace(t)
	s.apply(t, "changeward", strings.ReplaceAll(pinSecret, "NEW", "8150"))
	s.write(t, "pin.yaml", strings.ReplaceAll(pinSecret, "NEW", pin))
	id := s.proposed(t).ID
	stolen := recorded(t, s.world)
	for _, form := range []string{"text", "json", "markdown"} {
		got := s.as("alice").run(t, "show", id, "-o", form).exits(t, 0)
		stolen += got.stdout + got.stderr
	}
	thief := thiefOf(t, s, stolen)
	keys := thief.guessedKeys(stolen)
	assert.Assert(t, len(thief.digests) > 10 && len(keys) > 10, "there is nothing to search")
	assert.DeepEqual(t, thief.search(keys), []string(nil))

	secrets := s.Client(kubetest.Admin).CoreV1().Secrets(install.NamespaceGate)
	key, err := secrets.Get(t.Context(), install.DigestKeySecret, metav1.GetOptions{})
	assert.NilError(t, err)
	assert.DeepEqual(t, thief.search([][]byte{key.Data[install.DataKey]}), []string{pin, "8150"})
	for _, user := range []string{"alice", "eve"} {
		_, err = s.Client(user).CoreV1().Secrets(install.NamespaceGate).Get(t.Context(), install.DigestKeySecret, metav1.GetOptions{})
		assert.Assert(t, apierrors.IsForbidden(err), "%s: %v", user, err)
	}
}

// thief has found digests, and knows where the value stands.
type thief struct {
	digests            map[[16]byte]bool // their beginnings
	cluster, namespace string
}

func thiefOf(t *testing.T, s shop, stolen string) thief {
	t.Helper()
	system, err := s.Client(kubetest.Admin).CoreV1().Namespaces().Get(t.Context(), metav1.NamespaceSystem, metav1.GetOptions{})
	assert.NilError(t, err)
	th := thief{digests: map[[16]byte]bool{}, cluster: string(system.UID), namespace: s.namespace}
	for _, digest := range regexp.MustCompile(`[0-9a-f]{32,128}`).FindAllString(stolen, -1) {
		start, err := hex.DecodeString(digest[:32])
		assert.NilError(t, err)
		th.digests[[16]byte(start)] = true
	}
	return th
}

// guessedKeys are what a key might be: what is public, and what is empty.
func (th thief) guessedKeys(stolen string) [][]byte {
	keys := [][]byte{nil, make([]byte, 32), []byte(th.cluster), []byte("changeward"), []byte(clusterName)}
	for _, public := range []string{`"hmac":"([0-9a-f]{8}):`, `ssh-ed25519 ([A-Za-z0-9+/=]+)`, `(SHA256:[A-Za-z0-9+/]+)`} {
		for _, match := range regexp.MustCompile(public).FindAllStringSubmatch(stolen, 8) {
			keys = append(keys, []byte(match[1]))
			for _, decode := range []func(string) ([]byte, error){hex.DecodeString, base64.StdEncoding.DecodeString} {
				if decoded, err := decode(match[1]); err == nil {
					keys = append(keys, decoded, decoded[max(0, len(decoded)-32):])
				}
			}
		}
	}
	return keys
}

// search tries all PINs and returns those that a digest gives away.
func (th thief) search(keys [][]byte) (found []string) {
	for n := range 10000 {
		guess := fmt.Sprintf("%04d", n)
		if th.plain(guess) || th.keyed(guess, keys) {
			found = append(found, guess)
		}
	}
	return found
}

// plain tries digests without a key, over every form of the value.
func (th thief) plain(guess string) bool {
	encoded := base64.StdEncoding.EncodeToString([]byte(guess))
	for _, form := range []string{guess, guess + "\n", encoded, fmt.Sprintf("%q", guess), fmt.Sprintf("%q", encoded), string(th.input(guess)),
		fmt.Sprintf(`{"pin":%q}`, guess), fmt.Sprintf(`{"pin":%q}`, encoded), th.cluster + guess, th.cluster + encoded} {
		a, b, c, d := md5.Sum([]byte(form)), sha1.Sum([]byte(form)), sha256.Sum256([]byte(form)), sha512.Sum512([]byte(form))
		if th.has(a[:]) || th.has(b[:]) || th.has(c[:]) || th.has(d[:]) {
			return true
		}
	}
	return false
}

// input is what the HMAC is over.
func (th thief) input(guess string) []byte {
	input, err := state.Canonical([]string{th.cluster, "", "Secret", th.namespace, "pin", "data.pin",
		base64.StdEncoding.EncodeToString([]byte(guess))})
	if err != nil {
		panic(err)
	}
	return input
}

func (th thief) keyed(guess string, keys [][]byte) bool {
	input := th.input(guess)
	for _, key := range keys {
		mac := hmac.New(sha256.New, key)
		mac.Write(input)
		if th.has(mac.Sum(nil)) {
			return true
		}
	}
	return false
}

func (th thief) has(sum []byte) bool { return th.digests[[16]byte(sum)] }

func TestTwoValuesOfOneLengthLookTheSameAndHashDifferently(t *testing.T) {
	w := shared(t)
	namespace := w.Namespace(t)
	text := func(suffix string) string {
		return strings.ReplaceAll(caseText(t, "B45-secret-same-length"+suffix), "team-a", namespace)
	}
	w.Apply(t, kubetest.Admin, "changeward", text(".live"))
	shown := map[string]string{}
	hashes := map[string]string{}
	for _, suffix := range []string{"-a", "-b", "-a"} {
		way := given{suffix, []string{"-f", "-"}, text(suffix)}
		plan := way.planned(t, w.as("ci"))
		out := w.as("ci").piping(text(suffix)).run(t, "plan", "-f", "-").exits(t, 0)
		shown[suffix] = strings.ReplaceAll(out.stdout, plan.ID, "p_")
		if was, again := hashes[suffix]; again {
			assert.Equal(t, plan.Hash, was)
		}
		hashes[suffix] = plan.Hash
	}
	assert.Assert(t, hashes["-a"] != hashes["-b"])
	assert.Equal(t, shown["-a"], shown["-b"])
}

// caseText is the text of an input of testdata/cases.
func caseText(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "testdata", "cases", name+".yaml"))
	assert.NilError(t, err)
	return string(data)
}
