# Completes each of the lines given as arguments in an interactive zsh and prints what it would offer, a candidate a line
# after "COMPLETED <line>". $1: the script to test. The way: compadd, through which every candidate goes, is replaced.
zmodload zsh/zpty
script=$1
shift

zpty session "zsh -f -i"
run() { zpty -w session "$1"; }
run "PROMPT= RPROMPT= LISTMAX=0; stty -echo -onlcr columns 250; unsetopt auto_list auto_menu beep zle_bracketed_paste; unset zle_bracketed_paste"
run "autoload -Uz compinit && compinit -u -D; source $script; bindkey '^I' complete-word"
read -r -d '' hooks <<'HOOKS'
compadd() {
  # Called for its own purposes, not to offer anything.
  if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return; fi
  local -a hits
  builtin compadd -A hits "$@"
  local -A apre asuf
  zparseopts -E P:=apre S:=asuf
  local hit
  for hit in "${hits[@]}"; do print -r -- "OFFERED ${IPREFIX}${apre[-P]}${hit}${asuf[-S]}"; done
  builtin compadd "$@"
}
ended() { print -r -- "END OF CANDIDATES" }
before() { comppostfuncs=(ended) }
compprefuncs=(before)
# Called again for each completion: zsh empties the list every time.
precmd() { compprefuncs=(before) }
HOOKS
file=$(mktemp)
print -r -- $hooks > $file
run "source $file; rm $file; print READY FOR LINES"
zpty -r session text "*READY FOR LINES*"
for line in "$@"; do
  run "compprefuncs=(before); print NEXT LINE"
  zpty -r session text "*NEXT LINE*"
  zpty -w -n session "$line"$'\t'
  zpty -r session text "*END OF CANDIDATES*"
  print -r -- "COMPLETED $line"
  print -r -- $text | tr -d '\r' | sed -n 's/^.*OFFERED //p'
  zpty -w -n session $'\C-u'
done
zpty -d session
