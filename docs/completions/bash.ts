/**
 * Generates the script for bash 3.2 and newer: macOS has no later version. It has no descriptions, because bash cannot
 * show them.
 */
import type { Place } from './model.ts';
import { encodeValue, flagsOf, HEADER, listFlagValues, placeName } from './tables.ts';

export function bashScript(places: readonly Place[]): string {
  const rows = places.map((place) => {
    const commands = place.children.map(({ word }) => word).join(' ');
    const operands = place.operands === null ? 'free' : encodeValue(place.operands);
    return `    ${quote(placeName(place))}) commands=${quote(commands)} operands=${quote(operands)} options=${quote(flagsOf(place).join(' '))} ;;`;
  });
  const values = listFlagValues(places).map(({ flag, value, places: where }) => {
    const pattern =
      where === null ? `*${quote(` ${flag}`)}` : where.map((name) => quote(`${name} ${flag}`)).join('|');
    return `    ${pattern}) value=${quote(encodeValue(value))} ;;`;
  });
  return `# bash completion of vloc. ${HEADER}

# What is possible at a place: sets commands, operands and options.
_vloc_place() {
  commands='' operands='free' options=''
  case $1 in
${rows.join('\n')}
  esac
}

# The value that option $2 takes at the place $1: sets value, empty for nothing.
_vloc_value() {
  value=''
  case "$1 $2" in
${values.join('\n')}
  esac
}
${FUNCTIONS}`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

const FUNCTIONS = `
# Replies with the words of stdin (up to a tab) that start with $1, prefixed with $2.
_vloc_reply() {
  local word rest
  while IFS=$'\\t' read -r word rest; do
    [[ $word == "$1"* ]] && COMPREPLY+=("$2$word")
  done
}

_vloc_words() {
  local word
  for word in "$@"; do printf '%s\\n' "$word"; done
}

# Replies with values of the form $1 for the text $2, prefixed with $3; $4 is the program.
_vloc_offer() {
  local form=$1 text=$2 before=$3 names=''
  if [[ $form == ,* ]]; then
    form=\${form#,}
    [[ $text == *,* ]] && before+=\${text%,*},
    text=\${text##*,}
  fi
  case $form in
    'choices '*) names=\${form#choices } && _vloc_reply "$text" "$before" < <(_vloc_words $names) ;;
    'source '*)
      compopt -o nosort 2>/dev/null
      _vloc_reply "$text" "$before" < <("$4" completion values "\${form#source }" 2>/dev/null)
      ;;
    # An empty reply leaves file names to readline, which quotes them.
    files) return ;;
    folders) compopt +o default -o dirnames 2>/dev/null && return ;;
    at-file)
      if [[ $text == @* ]]; then
        compopt -o filenames 2>/dev/null
        [[ $COMP_WORDBREAKS == *@* ]] && before='' || before+='@'
        _vloc_reply "\${text#@}" "$before" < <(compgen -f -- "\${text#@}")
      fi
      ;;
  esac
  # No completions, and no file names either.
  compopt +o default 2>/dev/null
}

_vloc() {
  COMPREPLY=()
  local commands operands options value word glue='' place='' expected='' seen='' index
  local -a words
  # Bash splits words at = and @; here --name=value is one, and so is @file.
  for ((index = 0; index <= COMP_CWORD; index++)); do
    word=\${COMP_WORDS[index]}
    if [[ $word == =* && \${#words[@]} -gt 0 ]]; then
      words[\${#words[@]} - 1]+=$word
      glue=yes
    elif [[ $word == @ ]]; then
      words+=(@)
      glue=yes
    elif [[ -n $glue ]]; then
      words[\${#words[@]} - 1]+=$word
      glue=''
    else
      words+=("$word")
    fi
  done
  local last=$((\${#words[@]} - 1))
  local current=\${words[last]}

  _vloc_place ''
  for ((index = 1; index < last; index++)); do
    word=\${words[index]}
    case $word in
      -*=*) ;;
      -*)
        _vloc_value "$place" "$word"
        if [[ -n $value ]]; then
          index=$((index + 1))
          [[ $index -eq $last ]] && expected=$value
        fi
        ;;
      *)
        if [[ -z $seen && " $commands " == *" $word "* ]]; then
          place="\${place:+$place }$word"
          _vloc_place "$place"
        else
          seen=yes
        fi
        ;;
    esac
  done

  if [[ -n $expected ]]; then
    _vloc_offer "$expected" "$current" '' "$1"
  elif [[ $current == --*=* ]]; then
    _vloc_value "$place" "\${current%%=*}"
    local before="\${current%%=*}="
    # Readline then replaces only the part after the sign.
    [[ $COMP_WORDBREAKS == *=* ]] && before=''
    _vloc_offer "\${value:-free}" "\${current#*=}" "$before" "$1"
  elif [[ $current == -* ]]; then
    _vloc_reply "$current" '' < <(_vloc_words $options)
  else
    [[ -z $seen ]] && _vloc_reply "$current" '' < <(_vloc_words $commands)
    _vloc_offer "$operands" "$current" '' "$1"
  fi
}

complete -o default -F _vloc vloc
`;
