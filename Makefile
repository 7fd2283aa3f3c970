# `make help` lists the targets.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: $(shell grep -oE '^[a-z0-9-]+:' Makefile | tr -d :)

FUZZTIME ?= 10s
# packages that ./... leaves out
MORE := ./testdata/bench ./testdata/load ./testdata/server ./testdata/soak ./testdata/year
MORE += ./testdata/e2e/argocd ./testdata/e2e/parts/argocd ./testdata/e2e/parts/gitserver ./testdata/e2e/parts/kubelet
MORE += ./testdata/e2e/flux ./testdata/e2e/parts/flux
MORE += ./testdata/release
MORE += ./testdata/e2e/forge ./testdata/e2e/parts ./testdata/e2e/parts/gitea

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "%-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## both binaries into bin/
	go build -o bin/ ./kubectl-changeward ./flux-changeward

controlplane: ## the API server for tests, and kubectl, into bin/ (10 minutes the first time)
	@testdata/controlplane/build.sh bin

argosync: ## the code with which Argo CD syncs, into bin/ (8 minutes the first time)
	@testdata/argocd/build.sh bin argosync

argocdserver: ## all of Argo CD, into bin/ (12 minutes the first time)
	@testdata/argocd/build.sh bin argocd kustomize

gitea: ## a forge, into bin/ (7 minutes the first time)
	@testdata/gitea/build.sh bin

fluxcontrollers: ## Flux's source-controller and kustomize-controller, into bin/ (8 minutes the first time)
	@testdata/fluxcontrollers/build.sh bin

test: build controlplane argosync ## all tests that need no more than the API server
	go test -timeout 30m ./... ./testdata/soak ./testdata/load

e2e: e2e-forge e2e-flux e2e-argocd ## the stories that need the real controllers, or a forge

e2e-argocd: build controlplane argocdserver ## what a gate does to syncs of the real Argo CD; takes redis-server
	go test -count=1 -timeout 40m ./testdata/e2e/argocd

e2e-flux: build controlplane fluxcontrollers ## plans of Kustomizations against what the real Flux then does
	go test -count=1 -timeout 40m ./testdata/e2e/flux

e2e-forge: build controlplane gitea ## a direct change until its owner applies it from Git, by a pull request on a real Gitea
	go test -count=1 -timeout 20m ./testdata/e2e/forge

# goreleaser takes no commit from a checkout without a remote
snapshot: ## what a release would hold, of this commit, into bin/snapshot (goreleaser is built first, in 10 minutes)
	@testdata/goreleaser/build.sh bin
	@testdata/sbom/build.sh bin
	@git remote get-url origin >/dev/null 2>&1 || export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=remote.origin.url GIT_CONFIG_VALUE_0=https://github.com/changeward/changeward; \
	PATH="$(CURDIR)/bin:$$PATH" bin/goreleaser release --snapshot --clean

snapshot-test: snapshot ## install from that snapshot: by hand, by krew, by the entry of Flux's catalogue
	@testdata/krew/build.sh bin
	go test -count=1 -timeout 30m ./testdata/release

demo: build controlplane ## a change planned, stopped, approved and let through, on a real cluster
	@testdata/demo/demo.sh

bench: build controlplane ## speed and memory, as ratios measured in one run
	go run ./testdata/bench

year: build controlplane ## what the records of a year cost a gate, and what an archive brings back
	go run ./testdata/year

soak: controlplane ## 2,000 plans of approved changes on a busy cluster: none may be lost, no drift missed (5 to 25 minutes)
	SOAK=full go test -count=1 -timeout 40m -v -run TestSoak ./testdata/soak

load: build controlplane ## 50 gates and 20 approvers at once on one change, then 20 restarts of the API server: nothing wrong, lost or broken
	LOAD=full go test -count=1 -timeout 40m -v -run TestLoad ./testdata/load

lint: ## gofmt, vet, staticcheck, and the rules of docs/dev.md
	@test -z "$$(gofmt -l . | tee /dev/stderr)" || { echo 'run gofmt -w on these'; exit 1; }
	go vet ./... $(MORE)
	go run -modfile=testdata/tools/go.mod honnef.co/go/tools/cmd/staticcheck ./... $(MORE)
	go test ./pkg/archtest

update-golden: build controlplane ## rewrite golden files, in the packages that have some
	go test $$(grep -rl --include='*_test.go' gotest.tools/v3/golden . | xargs -n1 dirname | sort -u) -update

fuzz: ## every fuzz target, one after the other, FUZZTIME=10s each
	@for package in $$(go list ./...); do \
	  for target in $$(go test -list '^Fuzz' $$package | grep '^Fuzz' || true); do \
	    go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) $$package; done; done
