package dryrun_test

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/kubetest"
)

func TestWhatTheServerMakesUpInAnUpdateIsMarkedNotShown(t *testing.T) {
	namespace := cluster(t).Namespace(t)
	service := func(spec string) string {
		return "{apiVersion: v1, kind: Service, metadata: {name: turns, namespace: " + namespace + "}, spec: {selector: {a: b}, " + spec + "}}"
	}
	apply := func(spec string) { cluster(t).Apply(t, kubetest.Admin, dryrun.Manager, service(spec)) }
	update := func(spec string) []string {
		lines := planned(t, service(spec))
		assert.Equal(t, lines[0], "~ "+namespace+"/Service/turns (update)")
		return lines[1:]
	}
	apply("type: ExternalName, externalName: a.example.com")
	assert.DeepEqual(t, update("type: LoadBalancer, externalTrafficPolicy: Local, ports: [{port: 80}]"), []string{
		"+ spec.allocateLoadBalancerNodePorts: true",
		"+ spec.clusterIP: (assigned by the server)",
		"+ spec.clusterIPs: (assigned by the server)",
		`- spec.externalName: "a.example.com"`,
		`+ spec.externalTrafficPolicy: "Local"`,
		"+ spec.healthCheckNodePort: (assigned by the server)",
		`+ spec.internalTrafficPolicy: "Cluster"`,
		"+ spec.ipFamilies: (assigned by the server)",
		"+ spec.ipFamilyPolicy: (assigned by the server)",
		`+ spec.ports[port=80,protocol="TCP"]: {"nodePort":{"mark":"assigned"},"port":80,"protocol":"TCP","targetPort":80}`,
		`spec.type: "ExternalName" → "LoadBalancer"`,
	})
	apply("type: ClusterIP, ports: [{port: 80}]")
	assert.DeepEqual(t, update("type: NodePort, ports: [{port: 80}]"), []string{
		`+ spec.externalTrafficPolicy: "Cluster"`,
		`+ spec.ports[port=80,protocol="TCP"].nodePort: (assigned by the server)`,
		`spec.type: "ClusterIP" → "NodePort"`,
	})
	assert.Equal(t, update("type: NodePort, ports: [{port: 80, nodePort: 30555}]")[1],
		`+ spec.ports[port=80,protocol="TCP"].nodePort: 30555`, "a port of the manifest's own is bound")
	apply("type: NodePort, ports: [{port: 80, name: http}]")
	assert.DeepEqual(t, update("type: NodePort, ports: [{port: 80, name: http}, {port: 81, name: more}]"), []string{
		`+ spec.ports[port=81,protocol="TCP"]: {"name":"more","nodePort":{"mark":"assigned"},"port":81,"protocol":"TCP","targetPort":81}`,
	})
}
