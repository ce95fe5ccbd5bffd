/** Generates the script for fish: one `complete` for each candidate, with its position as the condition. */
import type { Candidate, CompletedOption, Place } from './model.ts';
import { HEADER, listFlagValues, placeName } from './tables.ts';
import type { Value } from './values.ts';

export function fishScript(places: readonly Place[]): string {
  const children = places
    .filter((place) => place.children.length > 0)
    .map((place) => {
      const words = place.children.map(({ word }) => word).join(' ');
      return `        case ${quote(placeName(place))}\n            contains -- $argv[2] ${words}`;
    });
  const takers = listFlagValues(places).flatMap(({ flag, places: where }) =>
    where === null ? [`* ${flag}`] : where.map((name) => `${name} ${flag}`),
  );
  const lines = places.flatMap((place) => [
    ...place.children.map((child) => childLine(place, child)),
    ...(place.operands === null ? [] : [operandLine(place, place.operands)]),
    ...place.options.map((option) => optionLine(place, option)),
  ]);
  return `# fish completion of vloc. ${HEADER}

# True when the word $argv[2] is a command at the place $argv[1].
function __vloc_has_command
    switch "$argv[1]"
${children.join('\n')}
        case '*'
            false
    end
end

# True when the option $argv[2] takes a value at the place $argv[1].
function __vloc_takes_value
    switch "$argv[1] $argv[2]"
        case ${takers.map(quote).join(' ')}
            true
        case '*'
            false
    end
end
${FUNCTIONS}
complete -c vloc -f
${lines.join('\n')}
`;
}

function childLine(place: Place, { word, explains }: Candidate): string {
  return `complete -c vloc -n ${condition('__vloc_at_first', place)} -a ${word} -d ${quote(explains)}`;
}

function operandLine(place: Place, value: Value): string {
  return `complete -c vloc -n ${condition('__vloc_at', place)} ${offer(value)}`.trimEnd();
}

function optionLine(place: Place, { long, short, explains, value }: CompletedOption): string {
  const parts = [
    `complete -c vloc -n ${condition('__vloc_at', place)}`,
    `-l ${long.slice(2)}`,
    short === null ? '' : `-s ${short.slice(1)}`,
    value === null ? '' : `${value.type === 'files' ? '-r' : '-x'} ${offer(value)}`.trimEnd(),
    `-d ${quote(explains)}`,
  ];
  return parts.filter((part) => part !== '').join(' ');
}

function condition(name: string, place: Place): string {
  return `"${name} '${placeName(place)}'"`;
}

function offer(value: Value): string {
  switch (value.type) {
    case 'choices':
      return value.list
        ? `-a '(__vloc_list ${value.choices.join(' ')})'`
        : `-a ${quote(value.choices.join(' '))}`;
    case 'source': {
      const values = `(__vloc_values ${value.source})`;
      // Keeps the order of the list: the newest job first.
      return value.list ? `-k -a '(__vloc_list ${values})'` : `-k -a '${values}'`;
    }
    case 'files':
      return '-F';
    case 'folders':
      return "-a '(__fish_complete_directories)'";
    case 'at-file':
      return "-a '(__vloc_at_files)'";
    case 'free':
      return '';
  }
}

function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

const FUNCTIONS = `
# Finds the words of the command at the cursor, and whether an operand follows them. Each condition asks for them, so
# they are kept until the line changes.
function __vloc_look
    set -l tokens (commandline -opc)
    set -l line (string join \\n -- $tokens | string collect)
    if set -q __vloc_line; and test "$line" = "$__vloc_line"
        return
    end
    set -g __vloc_line $line
    set -g __vloc_place ''
    set -g __vloc_seen no
    set -l skip no
    for token in $tokens[2..-1]
        if test $skip = yes
            set skip no
            continue
        end
        switch $token
            case '-*=*'
            case '-*'
                __vloc_takes_value "$__vloc_place" $token; and set skip yes
            case '*'
                if test $__vloc_seen = no; and __vloc_has_command "$__vloc_place" $token
                    set __vloc_place (string trim "$__vloc_place $token")
                else
                    set __vloc_seen yes
                end
        end
    end
end

function __vloc_at
    __vloc_look
    test "$__vloc_place" = "$argv[1]"
end

function __vloc_at_first
    __vloc_at $argv[1]; and test $__vloc_seen = no
end

# Values of a source, from vloc itself.
function __vloc_values
    set -l program (commandline -opc)[1]
    $program completion values $argv[1] 2>/dev/null
end

# The values after the last comma of the typed text.
function __vloc_list
    set -l typed (commandline -ct | string replace -r '^--[^=]*=' '' | string match -r '^.*,')
    for value in $argv
        printf '%s%s\\n' "$typed" $value
    end
end

function __vloc_at_files
    set -l typed (commandline -ct | string replace -r '^--[^=]*=' '' | string replace -r '^@' '')
    for path in $typed*
        printf '@%s\\n' $path
    end
end
`;
