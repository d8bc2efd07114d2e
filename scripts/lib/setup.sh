# Shared by quickstart.sh and test.sh: finds Python and uv, and installs the project from uv.lock.
# Sourced, not run. Sets PYTHON_BIN, UV_BIN and VENV; expects the working directory to be the checkout.

say() { printf '%s\n' "$*"; }
fail() {
  printf 'error: %s\n' "$*" >&2
  exit 2
}

VENV=${UV_PROJECT_ENVIRONMENT:-.venv}

# find_python: the first Python >= 3.11 among $PYTHON, the checkout's own environment and the PATH.
find_python() {
  local candidate version seen=""
  for candidate in ${PYTHON:+"$PYTHON"} "$VENV/bin/python" \
    python3 python python3.14 python3.13 python3.12 python3.11; do
    version=$("$candidate" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || continue
    case $version in
      3.1[1-9] | 3.[2-9][0-9])
        PYTHON_BIN=$("$candidate" -c 'import sys; print(sys.executable)')
        return
        ;;
    esac
    seen="$seen${seen:+, }$version"
  done
  fail "Python 3.11 or newer is needed and was not found (found: ${seen:-none}); install python3.11 or newer, or name one with PYTHON=/path/to/python3"
}

# find_uv: the uv on the PATH, else one of our own in the user's cache. Never touches the system's
# packages, which is why an externally managed Python (PEP 668) does not matter.
find_uv() {
  local home candidate
  home=${XDG_CACHE_HOME:-${HOME:?HOME is not set, so there is no cache directory}/.cache}/rag-source/uv
  for candidate in uv "${HOME:-}/.local/bin/uv" "$home/bin/uv"; do
    # Run it: a shim without a program behind it is on the PATH too.
    if "$candidate" --version >/dev/null 2>&1; then
      UV_BIN=$candidate
      return
    fi
  done
  say "uv is not installed; putting it into $home"
  rm -rf "$home"
  mkdir -p "$(dirname "$home")"
  if "$PYTHON_BIN" -m venv "$home" >/dev/null 2>&1; then
    "$home/bin/python" -m pip install --quiet uv ||
      fail "uv could not be installed from the package index; check the network and pip's configuration"
  elif rm -rf "$home" && "$PYTHON_BIN" -m pip --version >/dev/null 2>&1; then
    # No ensurepip, but a pip: a folder of its own is not the system's.
    PIP_ROOT_USER_ACTION=ignore "$PYTHON_BIN" -m pip install --quiet --target "$home" uv ||
      fail "uv could not be installed from the package index; check the network and pip's configuration"
  else
    rm -rf "$home"
    fail "$PYTHON_BIN can make no virtual environment; install its venv module (Debian, Ubuntu: apt-get install python3-venv) or uv"
  fi
  UV_BIN=$home/bin/uv
}

# adopt_pip_index: uv and the model fetch do not read pip's configuration files, so a mirror that
# only pip knows of is passed on.
adopt_pip_index() {
  local index
  if [ -n "${UV_DEFAULT_INDEX:-}${UV_INDEX_URL:-}" ]; then return; fi
  index=${PIP_INDEX_URL:-$("$PYTHON_BIN" -m pip config get global.index-url 2>/dev/null || true)}
  if [ -n "$index" ]; then export UV_DEFAULT_INDEX=$index; fi
}

# install_project ARGS...: the packages of uv.lock; ARGS choose extras and groups as for `uv sync`.
install_project() {
  find_python
  find_uv
  adopt_pip_index
  # The interpreter that was found, not the one that .python-version names: it may not be here.
  export UV_PYTHON=$PYTHON_BIN
  "$UV_BIN" sync --frozen --inexact "$@" && return
  if [ -z "${UV_DEFAULT_INDEX:-}${UV_INDEX_URL:-}" ]; then
    fail "the packages of uv.lock could not be installed; check the network, or set UV_DEFAULT_INDEX to your package index"
  fi
  say "the addresses in uv.lock do not answer; taking the same files, by hash, from the configured index"
  [ -x "$VENV/bin/python" ] || "$UV_BIN" venv --quiet "$VENV"
  "$UV_BIN" export --quiet --frozen --no-emit-project "$@" |
    "$UV_BIN" pip install --python "$VENV/bin/python" --require-hashes --requirements - ||
    fail "the packages of uv.lock are not all on the configured index"
  "$UV_BIN" pip install --python "$VENV/bin/python" --no-deps --editable .
}

OCR_PACKAGES="tesseract-ocr tesseract-ocr-fra tesseract-ocr-ara"

# ocr_missing: true unless Tesseract is here with English, French and Arabic.
ocr_missing() {
  local languages language
  languages=$(tesseract --list-langs 2>/dev/null) || return 0
  for language in eng fra ara; do
    printf '%s\n' "$languages" | grep -qx "$language" || return 0
  done
  return 1
}

# install_ocr: installs Tesseract where this is root on Debian or Ubuntu; elsewhere says in one line how.
install_ocr() {
  ocr_missing || return 0
  if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
    say "installing $OCR_PACKAGES"
    # shellcheck disable=SC2086 # a list of packages
    if apt-get update -qq >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y \
      --no-install-recommends $OCR_PACKAGES >/dev/null 2>&1; then
      return 0
    fi
  fi
  say "Tesseract is missing, so what needs OCR is skipped; to add it: apt-get install $OCR_PACKAGES"
}

PAGE_PACKAGES="chromium nodejs"

# page_tools_missing: true unless Chromium and Node are here.
page_tools_missing() {
  { ! command -v chromium && ! command -v chromium-browser; } >/dev/null || ! command -v node >/dev/null
}

# install_page_tools: installs what the tests of the page run in, as install_ocr does.
install_page_tools() {
  page_tools_missing || return 0
  if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
    local wanted=chromium
    command -v node >/dev/null || wanted=$PAGE_PACKAGES
    say "installing $wanted"
    # shellcheck disable=SC2086 # a list of packages
    if apt-get update -qq >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y \
      --no-install-recommends $wanted >/dev/null 2>&1; then
      return 0
    fi
  fi
  say "Chromium or Node is missing, so tests of the page are skipped; to add them: apt-get install $PAGE_PACKAGES"
}
