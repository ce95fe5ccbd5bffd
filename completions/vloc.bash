# bash completion of vloc, also for bash 3.2, which every Mac has. `vloc completion complete` answers what is possible.

_vloc() {
  local program=${1/#\~\//$HOME/} readline=$2 rest=${COMP_LINE:0:COMP_POINT} quotes=$'[\\\\"\']'
  local raw='' current head kind kept piece gap index
  local -a words
  COMPREPLY=()
  # Bash also splits words at : and = and @. Without a gap between them they are one; the last ends at the cursor.
  for ((index = 0; index < COMP_CWORD; index++)); do
    piece=${COMP_WORDS[index]}
    gap=${rest%%"$piece"*}
    if [[ -n $gap ]]; then
      words+=("${raw//$quotes/}")
      raw=''
    fi
    raw+=$piece
    rest=${rest:${#gap}+${#piece}}
  done
  if [[ $rest == [[:space:]]* ]]; then
    words+=("${raw//$quotes/}")
    raw=${rest#"${rest%%[![:space:]]*}"}
  else
    raw+=$rest
  fi
  # What is redirected are files.
  [[ $raw == [\<\>]* || $raw == [0-9\&][\<\>]* || ${words[${#words[@]} - 1]} == *[\<\>] ]] && return
  current=${raw//$quotes/}
  # Readline keeps what it does not regard as a part of the word: --output= and a quote.
  head=${raw%"$readline"}
  head=${head//$quotes/}

  {
    IFS=$'\t' read -r kind kept
    while IFS=$'\t' read -r piece _; do
      piece=$kept$piece
      [[ $piece == "$current"* ]] && COMPREPLY+=("${piece#"$head"}")
    done
  } < <("$program" completion complete -- "${words[@]:1}" "$current" 2>/dev/null)
  case $kind in
    files | folders)
      if [[ ${#COMPREPLY[@]} -eq 0 && $head == "$kept" ]]; then
        # Readline completes and quotes them itself.
        [[ $kind == files ]] && return
        compopt +o default -o dirnames 2>/dev/null && return
      fi
      compopt -o filenames 2>/dev/null
      [[ $kind == files ]] && kind=file || kind=directory
      while IFS= read -r piece; do
        piece=$kept$piece
        COMPREPLY+=("${piece#"$head"}")
      done < <(compgen -A "$kind" -- "${current#"$kept"}")
      ;;
    *) compopt -o nosort 2>/dev/null ;;
  esac
  compopt +o default 2>/dev/null
}

complete -o default -F _vloc vloc
