#!/usr/bin/env bash
# Plays the whole story of changeward on a real control plane of its own, and
# fails when any step does not end as it should. KEEP=1 leaves the cluster up.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
export PATH="$root/bin:$PATH"
dir=$(mktemp -d "${TMPDIR:-/tmp}/changeward-demo.XXXXXX")
unset KUBECONFIG CHANGEWARD_KEY SSH_AUTH_SOCK CHANGEWARD_EXECUTOR_URL KUBERNETES_SERVICE_HOST

finish() {
  local code=$?
  if [ -n "${server:-}" ] && { [ -z "${KEEP:-}" ] || [ "$code" != 0 ]; }; then
    kill "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
  fi
  if [ -z "${KEEP:-}" ]; then rm -rf "$dir"; fi
  [ "$code" = 0 ] || echo "the demo stopped: exit $code" >&2
}
trap finish EXIT

bold='' plain=''
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then bold=$'\033[1m' plain=$'\033[0m'; fi

say() { printf '\n%s# %s%s\n' "$bold" "$*" "$plain"; }

# run WHO CODE COMMAND... types a command as that person and checks its exit code.
run() {
  local who=$1 want=$2 code=0
  shift 2
  printf '\n%s%s$%s' "$bold" "$who" "$plain"
  local word
  for word in "$@"; do
    case $word in
    *[\ {]*) printf " '%s'" "$word" ;;
    *) printf ' %s' "${word//$dir/\~}" ;;
    esac
  done
  echo
  HOME="$dir/$who" XDG_CONFIG_HOME="$dir/$who/.config" KUBECONFIG="$dir/$who/kubeconfig" \
    "$@" >"$dir/out" 2>&1 </dev/null || code=$?
  cat "$dir/out"
  if [ "$code" != 0 ]; then echo "(exit $code)"; fi
  if [ "$code" != "$want" ]; then
    echo "expected exit $want, got $code" >&2
    exit 1
  fi
}

# has TEXT checks that the last output says it.
has() {
  grep -qF -- "$1" "$dir/out" || { echo "the output above lacks: $1" >&2; exit 1; }
}

change() { sed -n 's/^change \(c_[0-9a-f]*\).*/\1/p' "$dir/out" | head -n 1; }

printf 'starting a cluster ... '
controlplane up --dir "$dir/cluster" --user alice:sre --user bob:dev,sre --controllers >"$dir/ready" 2>"$dir/log" &
server=$!
for _ in $(seq 300); do
  if grep -q ready "$dir/ready"; then break; fi
  kill -0 "$server" 2>/dev/null || { cat "$dir/log" >&2; exit 1; }
  sleep 0.2
done
grep -q ready "$dir/ready" || { echo "the cluster did not come up" >&2; exit 1; }
echo ready
for who in admin alice bob ci; do
  mkdir -p -m 700 "$dir/$who/.ssh"
  ssh-keygen -q -t ed25519 -N '' -C "$who" -f "$dir/$who/.ssh/id_ed25519"
done
for who in admin alice bob; do
  kubectl --kubeconfig "$dir/cluster/kubeconfig" config view --raw --minify --flatten --context "$who" >"$dir/$who/kubeconfig"
done
cd "$root/testdata/demo"

say "a live app, applied server-side as changeward"
run admin 0 kubectl apply --server-side --field-manager=changeward -f live/namespace.yaml -f live/shop.yaml
run admin 0 kubectl create rolebinding bob-edits --clusterrole=edit --user=bob -n shop

say "install: namespaces, roles, admission policies, keys, the first policy"
run admin 0 kubectl changeward install --name demo --env prod --approvers group:sre --proposers group:dev --yes

say "a gate identity, as a pipeline would have it"
run admin 0 kubectl changeward token create ci --role propose --out "$dir/ci/kubeconfig"

say "a new ConfigMap: policy allows it, and the gate passes"
run ci 0 kubectl changeward gate --manifests apps/banner --target demo
has auto-approved

say "a new ClusterRoleBinding is another matter"
run ci 2 kubectl changeward gate --manifests apps/access --target demo
has shop-debug

say "bob flips a feature flag: the gate shows exactly what would happen, and stops"
run bob 2 kubectl changeward gate --manifests apps/shop --target demo
has 'data.feature_new_cart: "false" → "true"'
id=$(change)

say "bob proposed it, so bob cannot approve it"
run bob 1 kubectl changeward approve "$id" --yes
has IsProposer

say "the pipeline finds the same change request; its own token cannot approve, nor write anything"
run ci 2 kubectl changeward gate --manifests apps/shop --target demo
has "$id"
run ci 1 kubectl changeward approve "$id" --yes
run ci 1 kubectl apply --server-side --field-manager=changeward -f apps/shop
has "a changeward gate may change nothing"

say "alice of group sre sees the plan and signs it with her own key"
run alice 0 kubectl changeward approve "$id" --yes --reason "cart team is ready"

say "the gate passes, and passes again"
run ci 0 kubectl changeward gate --manifests apps/shop --target demo
run ci 0 kubectl changeward gate --manifests apps/shop --target demo

say "someone edits the very field: the approval does not cover that plan"
cat >"$dir/edit.yaml" <<'YAML'
apiVersion: v1
kind: ConfigMap
metadata: {name: shop-config, namespace: shop}
data: {currency: EUR, feature_new_cart: "beta"}
YAML
run admin 0 kubectl apply --server-side --field-manager=changeward -f "$dir/edit.yaml"
run ci 2 kubectl changeward gate --manifests apps/shop --target demo
has "$id"
sed -i 's/beta/false/' "$dir/edit.yaml"
run admin 0 kubectl apply --server-side --field-manager=changeward -f "$dir/edit.yaml"

say "by another field manager it is a conflict: no plan at all, and the gate says which approval that voids"
run admin 0 kubectl patch configmap shop-config -n shop --type merge -p '{"data":{"feature_new_cart":"beta"}}'
run ci 1 kubectl changeward gate --manifests apps/shop --target demo
has kubectl-patch
has "$id"
run admin 0 kubectl apply --server-side --force-conflicts --field-manager=changeward -f "$dir/edit.yaml"

say "an edit elsewhere changes nothing: the same plan, the same approval"
run admin 0 kubectl annotate configmap shop-config -n shop example.com/seen-by=monitoring
run admin 0 kubectl scale deployment shop -n shop --replicas=3
run ci 0 kubectl changeward gate --manifests apps/shop --target demo
has "$id"

say "the change is rolled out; the next gate run finds nothing to do, and the approval is spent"
run admin 0 kubectl apply --server-side --field-manager=changeward -f apps/shop
run ci 0 kubectl changeward gate --manifests apps/shop --target demo
run alice 0 kubectl changeward list

say "done: every step ended as it should"
if [ -n "${KEEP:-}" ]; then
  cat <<TEXT

The cluster is up (process $server). In another shell:

  export PATH="$root/bin:\$PATH" HOME="$dir/alice" KUBECONFIG="$dir/alice/kubeconfig"
  kubectl changeward list

The people are alice, bob and admin, and the pipeline is ci: one folder each in $dir.
To stop it: kill $server; rm -r $dir
TEXT
fi
