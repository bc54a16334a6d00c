# Completion of bash for smd, smctl and smsim: each command's --help says what may follow.
_smd_words() {
  local word i commands=()
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    [[ $word == -* ]] || commands+=("$word")
  done
  local help
  # Words that are values and no commands end the search for a command.
  while :; do
    help=$("${COMP_WORDS[0]}" "${commands[@]}" --help 2>/dev/null) && break
    [ ${#commands[@]} -gt 0 ] || return 0
    unset 'commands[-1]'
  done
  local options names
  options=$(grep -oE '^ +-[^ ]+' <<<"$help" | tr ', ' '\n' | grep -- '^-')
  names=$(sed -n '/^Subcommands:/,$s/^  \([a-z][a-z0-9-]*\)\( .*\)\?$/\1/p' <<<"$help")
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
  elif [ -n "$names" ] && [[ $previous != -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$names" -- "$current")
  else
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}
complete -F _smd_words smd smctl smsim
