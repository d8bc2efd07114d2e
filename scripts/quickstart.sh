#!/usr/bin/env bash
# From a fresh clone to a first answer: installs everything, fetches the models, indexes the samples
# and asks four questions. Needs Python >= 3.11 and a package index; not root. Run it again at will.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/lib/setup.sh
. scripts/lib/setup.sh

started=$SECONDS
say "1/3 installing rag-source into $VENV"
install_project --extra embedded --no-dev
say "2/3 fetching the models (1.1 GB the first time, checked by sha256, shared by all checkouts)"
"$VENV/bin/rag-source" models fetch embedded
say "3/3 indexing data/samples and asking"
status=0
"$VENV/bin/rag-source" demo || status=$?
if [ "$status" -ne 0 ]; then
  printf 'error: the demonstration did not end as it should (exit %s)\n' "$status" >&2
  exit "$status"
fi

case $VENV in
  /*) command=$VENV/bin/rag-source ;;
  *) command=$PWD/$VENV/bin/rag-source ;;
esac
command=$(printf '%q' "$command")
cat <<END

Ready in $((SECONDS - started)) s. Now your own documents:

  export RAG_SOURCE_DATA_DIR=~/Documents/papers
  $command ingest
  $command ask "..."
  $command up        # the HTTP API on 127.0.0.1, models kept loaded

$command --help lists the rest; README.md explains it.
END
if ocr_missing; then say "Scanned pages and photographs need Tesseract: apt-get install $OCR_PACKAGES"; fi
