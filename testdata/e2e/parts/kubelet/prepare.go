package kubelet

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// prepare makes what a Pod refers to. An error is something that is not there.
func (k *Kubelet) prepare(ctx context.Context, pod *corev1.Pod, image Image) (*container, error) {
	spec := pod.Spec.Containers[0]
	c := &container{dir: filepath.Join(k.dir, string(pod.UID)), image: image, pod: pod, mounts: map[string]string{}}
	if err := os.MkdirAll(filepath.Join(c.dir, "root"), 0o755); err != nil {
		return nil, err
	}
	log := filepath.Join(c.dir, terminationLog)
	if err := os.WriteFile(log, nil, 0o666); err != nil {
		return nil, err
	}
	if err := os.Chmod(log, 0o666); err != nil { // whatever the umask
		return nil, err
	}
	env, err := k.environment(ctx, pod)
	if err != nil {
		return nil, err
	}
	command := spec.Command
	if len(command) == 0 {
		command = image.Entrypoint
	}
	for _, word := range append(append([]string{}, command...), spec.Args...) {
		c.command = append(c.command, expanded(word, env))
	}
	for name, value := range env {
		c.env = append(c.env, name+"="+value)
	}
	for _, mount := range spec.VolumeMounts {
		folder, err := k.volume(ctx, pod, c.dir, mount.Name)
		if err != nil {
			return nil, err
		}
		c.mounts[mount.MountPath] = folder
	}
	return c, nil
}

// environment of the container, with what the cluster adds.
func (k *Kubelet) environment(ctx context.Context, pod *corev1.Pod) (map[string]string, error) {
	server, err := url.Parse(k.config.Host)
	if err != nil {
		return nil, err
	}
	env := map[string]string{"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOSTNAME": pod.Name,
		"KUBERNETES_SERVICE_HOST": server.Hostname(), "KUBERNETES_SERVICE_PORT": server.Port()}
	for _, v := range pod.Spec.Containers[0].Env {
		value, err := k.value(ctx, pod, v)
		if err != nil {
			return nil, fmt.Errorf("variable %s: %w", v.Name, err)
		}
		if value != nil {
			env[v.Name] = expanded(*value, env)
		}
	}
	return env, nil
}

// value of a variable, nil where it stays unset.
func (k *Kubelet) value(ctx context.Context, pod *corev1.Pod, v corev1.EnvVar) (*string, error) {
	from := v.ValueFrom
	switch {
	case from == nil:
		return &v.Value, nil
	case from.SecretKeyRef != nil:
		secret, err := k.client.CoreV1().Secrets(pod.Namespace).Get(ctx, from.SecretKeyRef.Name, metav1.GetOptions{})
		return referred(secret.Data, err, from.SecretKeyRef.Key, from.SecretKeyRef.Optional)
	case from.ConfigMapKeyRef != nil:
		found, err := k.client.CoreV1().ConfigMaps(pod.Namespace).Get(ctx, from.ConfigMapKeyRef.Name, metav1.GetOptions{})
		return referred(found.Data, err, from.ConfigMapKeyRef.Key, from.ConfigMapKeyRef.Optional)
	case from.FieldRef != nil && from.FieldRef.FieldPath == "metadata.namespace":
		return &pod.Namespace, nil
	case from.FieldRef != nil && from.FieldRef.FieldPath == "metadata.name":
		return &pod.Name, nil
	}
	return nil, fmt.Errorf("a source that is not known here: %+v", from)
}

func referred[T string | []byte](data map[string]T, err error, key string, optional *bool) (*string, error) {
	value, there := data[key]
	missing := apierrors.IsNotFound(err) || err == nil && !there
	switch {
	case missing && optional != nil && *optional:
		return nil, nil
	case err != nil:
		return nil, err
	case missing:
		return nil, fmt.Errorf("couldn't find key %s", key)
	}
	text := string(value)
	return &text, nil
}

// volume is the folder of a volume of the Pod.
func (k *Kubelet) volume(ctx context.Context, pod *corev1.Pod, dir, name string) (string, error) {
	folder := filepath.Join(dir, "volumes", name)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	for _, volume := range pod.Spec.Volumes {
		switch {
		case volume.Name != name:
		case volume.EmptyDir != nil:
			return folder, os.Chmod(folder, 0o777)
		case volume.Secret != nil:
			secret, err := k.client.CoreV1().Secrets(pod.Namespace).Get(ctx, volume.Secret.SecretName, metav1.GetOptions{})
			if err != nil {
				return "", err
			}
			return folder, write(folder, secret.Data)
		case volume.Projected != nil:
			for _, source := range volume.Projected.Sources {
				if err := k.project(ctx, pod, folder, source); err != nil {
					return "", err
				}
			}
			return folder, nil
		}
	}
	return "", fmt.Errorf("volume %s is of a kind that is not known here", name)
}

// project puts what a projected volume names into its folder.
func (k *Kubelet) project(ctx context.Context, pod *corev1.Pod, folder string, source corev1.VolumeProjection) error {
	switch {
	case source.ServiceAccountToken != nil:
		asked := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: source.ServiceAccountToken.ExpirationSeconds,
			BoundObjectRef: &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID}}}
		token, err := k.client.CoreV1().ServiceAccounts(pod.Namespace).CreateToken(ctx, cmp.Or(pod.Spec.ServiceAccountName, "default"), asked, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		return write(folder, map[string]string{source.ServiceAccountToken.Path: token.Status.Token})
	case source.ConfigMap != nil:
		found, err := k.client.CoreV1().ConfigMaps(pod.Namespace).Get(ctx, source.ConfigMap.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		return write(folder, found.Data)
	case source.DownwardAPI != nil:
		return write(folder, map[string]string{"namespace": pod.Namespace})
	}
	return fmt.Errorf("a projection that is not known here: %+v", source)
}

// write makes files that everyone may read.
func write[T string | []byte](folder string, files map[string]T) error {
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}
