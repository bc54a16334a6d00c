# What the tests of packages share; sourced, with $build, the folder of the build, set.
say() { printf '== %s\n' "$*"; }
fail() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

# install_tools PACKAGE…: of Debian's, those that are not there.
install_tools() {
  local missing=() package
  for package in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)" = installed ] || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  echo "installing ${missing[*]}"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# Into $packages, build/packages.
build_packages() {
  say "building packages"
  cmake "$build" >/dev/null
  cmake --build "$build" --target packages >"$build/packages.log" 2>&1 || { tail -40 "$build/packages.log" >&2; fail "they could not be built"; }
  packages=$build/packages
}

# make_root FOLDER PACKAGES: a Debian 12 from where this machine has its own, with the packages of ours beside it
# in /packages.
make_root() {
  local root=$1 include=$2 sources
  say "a clean Debian 12"
  mapfile -t sources < <({
    find /etc/apt -name '*.list' -print0 | xargs -0r grep -lE 'bookworm(-updates)? ' -- | xargs -r grep -lw main
    find /etc/apt -name '*.sources' -exec grep -lE '^Suites:.*bookworm' {} +
  } | sort -u)
  mmdebstrap --quiet --variant=minbase --include="$include" bookworm "$root" "${sources[@]}"
  mkdir "$root/packages"
  cp "$packages"/*.deb "$root/packages"
}

# Its adapters by name, in order: of a net file of ibsim.
adapters() { sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$1"; }
