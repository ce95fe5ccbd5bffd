/** Generates the script for zsh: one function per position, for use with `_arguments`. */
import type { CompletedOption, Place } from './model.ts';
import { HEADER } from './tables.ts';
import type { Value } from './values.ts';

export function zshScript(places: readonly Place[]): string {
  const functions = places.map((place) => {
    const below = places.filter((other) => isBelow(other, place));
    return place.children.length === 0 ? leafFunction(place) : groupFunction(place, below);
  });
  return `#compdef vloc
# zsh completion of vloc. ${HEADER}

# Values of the source $1; $2 is "list" for several, separated by commas.
_vloc_values() {
  local line
  local -a offered
  [[ $2 == list ]] && compset -P '*,'
  for line in \${(f)"$(_call_program values $vloc_program completion values $1 2>/dev/null)"}; do
    offered+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  _describe -V -t values $1 offered
}

_vloc_at_file() {
  compset -P '@' && _files
}

${functions.join('\n\n')}

_vloc() {
  local vloc_program=$words[1]
  _vloc_at_root "$@"
}

# Loaded from $fpath, this file is the function itself; with source, it only declares it.
if [[ $funcstack[1] == _vloc ]]; then
  _vloc "$@"
else
  compdef _vloc vloc
fi
`;
}

function isBelow(place: Place, parent: Place): boolean {
  return (
    place.words.length === parent.words.length + 1 &&
    parent.words.every((word, at) => place.words[at] === word)
  );
}

function functionName(place: Place): string {
  return place.words.length === 0
    ? '_vloc_at_root'
    : `_vloc_at_${place.words.join('_').replaceAll('-', '_')}`;
}

function leafFunction(place: Place): string {
  return `${functionName(place)}() {\n${argumentsCall(place, operandSpec(place))}\n}`;
}

/** A position with subcommands, which may also be a command itself. */
function groupFunction(place: Place, below: readonly Place[]): string {
  const commands = place.children.map(({ word, explains }) => `    ${quote(`${word}:${explains}`)}`);
  const cases = below.map((child) => `        ${child.words.at(-1)}) ${functionName(child)} && ret=0 ;;`);
  const first = place.operands === null ? '' : `\n      ${firstOperand(place.operands)} && ret=0`;
  const other =
    place.operands === null
      ? ''
      : `\n        *)\n${argumentsCall(place, operandSpec(place), '          ')} && ret=0\n          ;;`;
  return `${functionName(place)}() {
  local curcontext=$curcontext state line ret=1
  local -A opt_args
  local -a commands=(
${commands.join('\n')}
  )
${argumentsCall(place, ["'1: :->first'", "'*:: :->rest'"], '  ', '-C ')} && ret=0
  case $state in
    first)
      _describe -t commands command commands && ret=0${first}
      ;;
    rest)
      curcontext="\${curcontext%:*}:vloc-${place.words.map((word) => `${word}-`).join('')}$words[1]:"
      case $words[1] in
${cases.join('\n')}${other}
      esac
      ;;
  esac
  return ret
}`;
}

function argumentsCall(place: Place, rest: readonly string[], indent = '  ', flags = ''): string {
  const specs = [...place.options.map(optionSpec), ...rest];
  return [`${indent}_arguments ${flags}-s -S`, ...specs.map((spec) => `${indent}  ${spec}`)].join(' \\\n');
}

function optionSpec({ long, short, explains, value, repeats }: CompletedOption): string {
  const text = `[${explains.replace(/[[\]\\:]/g, '\\$&')}]`;
  const taken = value === null ? '' : `:${value.name.replaceAll(':', '\\:')}:${action(value)}`;
  const longForm = value === null ? long : `${long}=`;
  // `--help` and `--version` exclude all other options.
  const excludes = ['--help', '--version'].includes(long)
    ? '(- *)'
    : short === null
      ? ''
      : `(${short} ${long})`;
  const before = repeats ? '*' : excludes;
  if (short === null) return quote(`${before}${longForm}${text}${taken}`);
  const shortForm = value === null ? short : `${short}+`;
  return `${quote(before)}{${shortForm},${longForm}}${quote(`${text}${taken}`)}`;
}

function operandSpec({ operands }: Place): string[] {
  return operands === null ? [] : [quote(`*:${operands.name}:${action(operands)}`)];
}

/**
 * The action of `_arguments` for a value. A space before the name prevents `_arguments` from adding its own arguments.
 */
function action(value: Value): string {
  switch (value.type) {
    case 'choices':
      return value.list
        ? `_values -s , ${value.name} ${value.choices.join(' ')}`
        : `(${value.choices.join(' ')})`;
    case 'source':
      return ` _vloc_values ${value.source}${value.list ? ' list' : ''}`;
    case 'files':
      return '_files';
    case 'folders':
      return '_files -/';
    case 'at-file':
      return ' _vloc_at_file';
    case 'free':
      return ' ';
  }
}

function firstOperand(value: Value): string {
  return value.type === 'choices' ? `compadd -- ${value.choices.join(' ')}` : action(value).trim() || 'true';
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
