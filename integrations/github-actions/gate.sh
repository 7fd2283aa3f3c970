#!/usr/bin/env bash
# Gates manifests, and says what came of it in the job's summary, its outputs
# and one comment of the pull request, which each run replaces. It waits for
# nobody: once approved, the job is run again.
set -euo pipefail

plan=$RUNNER_TEMP/changeward-plan.md
answer=$RUNNER_TEMP/changeward-answer.json
event=$(cat "${GITHUB_EVENT_PATH:-/dev/null}")
of() { jq -r "$1 // empty" <<<"${event:-null}"; }

if [[ -n ${CHANGEWARD_KUBECONFIG:-} ]]; then export KUBECONFIG=$CHANGEWARD_KUBECONFIG; fi
if [[ $(of .pull_request.head.repo.full_name) != "$(of .pull_request.base.repo.full_name)" && ! -s ${KUBECONFIG:-} ]]; then
  echo "::error::a pull request from a fork gets no credentials, so its plan cannot be made: a maintainer gates it from a branch of this repository"
  echo "decision=error" >>"$GITHUB_OUTPUT"
  exit 1
fi

flags=()
while IFS= read -r flag; do
  if [[ -n $flag ]]; then flags+=("$flag"); fi
done <<<"${CHANGEWARD_FLAGS:-}"
code=0
kubectl-changeward gate --manifests "$CHANGEWARD_MANIFESTS" --target "$CHANGEWARD_TARGET" \
  ${flags[@]+"${flags[@]}"} --out "$plan" -o json >"$answer" || code=$?

# What is printed of the plan is no command to the runner.
stop=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
echo "::stop-commands::$stop"
cat "$plan"
echo "::$stop::"
cat "$plan" >>"$GITHUB_STEP_SUMMARY"
{
  echo "decision=$(jq -r '.verdict.decision // "error"' "$answer")"
  echo "change=$(jq -r '.change.id // empty' "$answer")"
  echo "plan=$(jq -r '.plan.id // empty' "$answer")"
} >>"$GITHUB_OUTPUT"

api() { # METHOD PATH [FILE]: the answer of GitHub
  curl -fsS --retry 2 -X "$1" -H @- -H 'Accept: application/vnd.github+json' -H 'X-GitHub-Api-Version: 2022-11-28' \
    ${3+--data-binary "@$3"} "$GITHUB_API_URL/repos/$GITHUB_REPOSITORY/$2" <<<"Authorization: Bearer $GH_TOKEN"
}

comment() { # writes the one comment about these manifests and this cluster
  local mark page=1 found list body=$RUNNER_TEMP/changeward-comment.json
  mark="<!-- changeward $(printf '%s\n' "$CHANGEWARD_TARGET" "$CHANGEWARD_MANIFESTS" | shasum -a 256 | cut -c1-16) -->"
  jq -n --arg mark "$mark" --rawfile plan "$plan" '{body: ($mark + "\n" + $plan)}' >"$body" || return
  while :; do
    list=$(api GET "issues/$1/comments?per_page=100&page=$page") || return
    found=$(jq -r --arg mark "$mark" 'first(.[] | select(.body | startswith($mark)) | .id) // empty' <<<"$list")
    if [[ -n $found ]]; then api PATCH "issues/comments/$found" "$body" >/dev/null; return; fi
    if (($(jq length <<<"$list") < 100)); then api POST "issues/$1/comments" "$body" >/dev/null; return; fi
    page=$((page + 1))
  done
}

number=$(of .pull_request.number)
if [[ -n $number && -n ${GH_TOKEN:-} ]]; then
  (comment "$number") || echo "::warning::the plan could not be written to the pull request: does the job have permission pull-requests: write?"
fi
exit "$code"
