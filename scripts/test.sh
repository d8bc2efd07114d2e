#!/usr/bin/env bash
# All set-up for the tests, then all the tests: format, lint, types, layers, unit tests, and the tests
# that need the real models. Runs everything even after a failure; any failure makes it exit 1.
#
#   scripts/test.sh          everything
#   scripts/test.sh --unit   without the models: no download, no test that needs them
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/lib/setup.sh
. scripts/lib/setup.sh

unit_only=no
case "${1:-} $#" in
  " 0") ;;
  "--unit 1") unit_only=yes ;;
  *) fail "usage: scripts/test.sh [--unit]" ;;
esac

install_project --all-extras
# System packages that tests need are installed where this is root on Debian, and otherwise named in one
# line with the command that adds them. More of them go here.
install_ocr
install_page_tools
if [ "$unit_only" = no ]; then
  "$VENV/bin/rag-source" models fetch embedded
fi

failed=()
# step NAME COMMAND...: runs one check and remembers whether it failed.
step() {
  local name=$1 begun=$SECONDS
  shift
  printf '\n== %s\n' "$name"
  if "$@"; then
    printf '== %s: good, %s s\n' "$name" "$((SECONDS - begun))"
  else
    failed+=("$name")
    printf '== %s: FAILED, %s s\n' "$name" "$((SECONDS - begun))"
  fi
}

bin=$VENV/bin
step format "$bin/ruff" format --check .
step lint "$bin/ruff" check .
step types "$bin/mypy"
step layers "$bin/lint-imports"
if command -v node >/dev/null; then step "modules of the page" node --test tests/ui; fi
if [ ${#failed[@]} -gt 0 ]; then printf '\nfailed so far: %s\n' "${failed[*]}"; fi

# pytest comes last, so that its closing line is the last one.
printf '\n== unit tests\n'
"$bin/pytest" -q || failed+=("unit tests")
printf '\n== tests that start parser workers and Tesseract\n'
"$bin/pytest" -q -m processes || failed+=("tests of processes")
printf '\n== tests of the page in a browser\n'
"$bin/pytest" -q -m browser || failed+=("tests of the page")
if [ "$unit_only" = no ]; then
  printf '\n== tests with the real models\n'
  "$bin/pytest" -q -m models --durations=5 || failed+=("tests with the real models")
fi
[ ${#failed[@]} -eq 0 ]
