package install_test

import (
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"
	"gotest.tools/v3/poll"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/changeward/changeward/pkg/install"
	"github.com/changeward/changeward/pkg/install/admission"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
)

const robotRefused = "only who administers changeward may start it or get it a token"

// operator is a role that may run and read anything in the robots' namespace.
const operator = `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: operator, namespace: changeward-approvers}
rules:
- {apiGroups: ["", apps, batch], resources: ["*"], verbs: ["*"]}
`

func operates(user string) string {
	return `
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: ` + user + `, namespace: changeward-approvers}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: operator}
subjects: [{kind: User, name: ` + user + `, apiGroup: rbac.authorization.k8s.io}]
`
}

func pod(name string) corev1.PodSpec {
	return corev1.PodSpec{ServiceAccountName: name, RestartPolicy: corev1.RestartPolicyNever,
		Containers: []corev1.Container{{Name: "main", Image: "example.com/robot:1"}}}
}

// takesRobot is each way to a token of a robot, by one client; dry are the
// options of a request.
func takesRobot(t *testing.T, client kubernetes.Interface, dry []string) map[string]error {
	t.Helper()
	const at, robot = install.NamespaceApprovers, "bot"
	ctx, o, meta := t.Context(), metav1.CreateOptions{DryRun: dry}, metav1.ObjectMeta{GenerateName: "try-"}
	errs := map[string]error{}
	_, errs["a Pod"] = client.CoreV1().Pods(at).Create(ctx, &corev1.Pod{ObjectMeta: meta, Spec: pod(robot)}, o)
	template := corev1.PodTemplateSpec{Spec: pod(robot)}
	_, errs["a Job"] = client.BatchV1().Jobs(at).Create(ctx, &batchv1.Job{ObjectMeta: meta, Spec: batchv1.JobSpec{Template: template}}, o)
	labels := map[string]string{"app": "x"}
	forever := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod(robot)}
	forever.Spec.RestartPolicy = corev1.RestartPolicyAlways
	_, errs["a ReplicationController"] = client.CoreV1().ReplicationControllers(at).Create(ctx, &corev1.ReplicationController{ObjectMeta: meta,
		Spec: corev1.ReplicationControllerSpec{Selector: labels, Template: &forever}}, o)
	_, errs["a token Secret"] = client.CoreV1().Secrets(at).Create(ctx, &corev1.Secret{Type: corev1.SecretTypeServiceAccountToken,
		ObjectMeta: metav1.ObjectMeta{GenerateName: "try-", Annotations: map[string]string{corev1.ServiceAccountNameKey: robot}}}, o)
	return errs
}

func TestOnlyWhoAdministersStartsWhatCountsAsAPersonOrGetsItAToken(t *testing.T) {
	c := kubetest.StartWithControllers(t, "eve", "ada:platform", "bob:dev", "alice:sre")
	o := options(t, c)
	o.People.Admins = policy.Subjects{Groups: []string{"platform"}, Users: []string{o.Caller.Username}}
	mustInstall(t, c, o)
	tokenConfig(t, c, install.TokenOptions{Name: "bot", Role: install.TokenApprove, Duration: hour})
	c.Apply(t, kubetest.Admin, "test", operator, operates("eve"), operates("ada"), operates("bob"), operates("alice"))
	for _, user := range []string{"eve", "bob", "alice", "ada"} {
		awaitRight(t, c.Config(user), authorizationv1.ResourceAttributes{Namespace: install.NamespaceApprovers, Verb: "create", Resource: "pods"})
	}
	for _, user := range []string{"eve", "bob", "alice"} {
		client := kubernetes.NewForConfigOrDie(c.Config(user))
		for what, err := range takesRobot(t, client, nil) {
			assert.ErrorContains(t, err, robotRefused, "%s: %s", user, what)
		}
		for what, err := range takesRobot(t, client, []string{metav1.DryRunAll}) {
			assert.NilError(t, err, "%s plans %s", user, what)
		}
		for _, dry := range [][]string{nil, {metav1.DryRunAll}} { // a dry run returns a real token
			_, err := client.CoreV1().ServiceAccounts(install.NamespaceApprovers).CreateToken(t.Context(), "bot", &authenticationv1.TokenRequest{}, metav1.CreateOptions{DryRun: dry})
			assert.ErrorContains(t, err, robotRefused, user)
		}
		_, err := client.CoreV1().Secrets(install.NamespaceApprovers).Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{GenerateName: "plain-"}}, metav1.CreateOptions{})
		assert.NilError(t, err)
	}
	ada := kubernetes.NewForConfigOrDie(c.Config("ada"))
	for what, err := range takesRobot(t, ada, nil) {
		assert.NilError(t, err, what)
	}
	t.Run("and the cluster starts what an admin asked for", func(t *testing.T) { startsPods(t, ada) })
	t.Run("which nobody else enters or changes", func(t *testing.T) { noEntry(t, c, ada) })
}

// startsPods waits for the Pod of the admin's Job.
func startsPods(t *testing.T, ada kubernetes.Interface) {
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		pods, err := ada.CoreV1().Pods(install.NamespaceApprovers).List(t.Context(), metav1.ListOptions{LabelSelector: "batch.kubernetes.io/job-name"})
		switch {
		case err != nil:
			return poll.Error(err)
		case len(pods.Items) == 0:
			return poll.Continue("no Pod of the Job yet")
		}
		return poll.Success()
	}, poll.WithTimeout(2*time.Minute))
}

func noEntry(t *testing.T, c *kubetest.Cluster, ada kubernetes.Interface) {
	running, err := ada.CoreV1().Pods(install.NamespaceApprovers).Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "robot"}, Spec: pod("bot")}, metav1.CreateOptions{})
	assert.NilError(t, err)
	eve := kubernetes.NewForConfigOrDie(c.Config("eve"))
	err = eve.CoreV1().RESTClient().Post().Namespace(running.Namespace).Resource("pods").Name(running.Name).SubResource("exec").
		Param("command", "id").Param("stdout", "true").Do(t.Context()).Error()
	assert.ErrorContains(t, err, robotRefused)
	running.Spec.Containers[0].Image = "example.com/eve:1"
	_, err = eve.CoreV1().Pods(running.Namespace).Update(t.Context(), running, metav1.UpdateOptions{})
	assert.ErrorContains(t, err, robotRefused)
	running.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "look", Image: "example.com/eve:1"}}}
	_, err = eve.CoreV1().Pods(running.Namespace).UpdateEphemeralContainers(t.Context(), running.Name, running, metav1.UpdateOptions{})
	assert.ErrorContains(t, err, robotRefused)
}

func TestAnUpgradeOfTheAdmissionTextVoidsNothingAndTheDoctorAsksForIt(t *testing.T) {
	c := kubetest.Start(t)
	o := options(t, c)
	mustInstall(t, c, o)
	ofVersion1(t, c, o.Signer)
	where := as(t, c.Config(kubetest.Admin))
	old := install.Attest(t.Context(), where, epochs(t, c))
	assert.Equal(t, old.Void, "", old.Detail)
	found := examine(t, c, install.CheckAdmission)
	assert.Equal(t, found.Status, install.StatusWarn)
	assert.Equal(t, found.Reason, install.ReasonAdmissionOld)
	assert.Assert(t, cmp.Contains(examine(t, c, install.CheckMint).Message, "a robot that approves"))

	mustInstall(t, c, o)
	all := epochs(t, c)
	assert.Equal(t, len(all), 2)
	assert.Equal(t, all[1].Admission, admission.Version)
	upgraded := install.Attest(t.Context(), where, all)
	assert.Equal(t, upgraded.Void, "", upgraded.Detail)
	assert.Equal(t, upgraded.From, old.From, "what was written before is as good as it was")
	assert.Equal(t, examine(t, c, install.CheckAdmission).Status, install.StatusOK)
}

// ofVersion1 makes a fresh install one of the first admission text.
func ofVersion1(t *testing.T, c *kubetest.Cluster, signer sign.Signer) {
	t.Helper()
	ctx, where := t.Context(), as(t, c.Config(kubetest.Admin))
	epoch, record := epochs(t, c)[0], records(ctx, t, c, state.TypeEpoch)[0]
	rendered, err := admission.RenderVersion(1, nil, nil)
	assert.NilError(t, err)
	policies := c.Dynamic(kubetest.Admin).Resource(admissionv1.SchemeGroupVersion.WithResource("validatingadmissionpolicies"))
	for _, object := range rendered {
		if object.GetKind() != "ValidatingAdmissionPolicy" {
			continue
		}
		live, err := policies.Get(ctx, object.GetName(), metav1.GetOptions{})
		assert.NilError(t, err)
		live.Object["spec"] = object.Object["spec"]
		live, err = policies.Update(ctx, live, metav1.UpdateOptions{})
		assert.NilError(t, err)
		for i := range epoch.Objects {
			if o := &epoch.Objects[i]; o.UID == string(live.GetUID()) {
				o.Generation = live.GetGeneration()
			}
		}
	}
	epoch.Admission = 1
	record.Data[state.DataEnvelope], _, err = sign.Seal(signer, state.TypeEpoch, "", "", epoch)
	assert.NilError(t, err)
	assert.NilError(t, where.Store.Delete(ctx, state.TypeEpoch, record.Name))
	_, err = where.Store.Create(ctx, record)
	assert.NilError(t, err)
}
