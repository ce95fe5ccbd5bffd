/** Generates the script for PowerShell 5.1 and newer. */
import type { Place } from './model.ts';
import { encodeValue, HEADER, listFlagValues, placeName } from './tables.ts';

export function powershellScript(places: readonly Place[]): string {
  const rows = places.map((place) => {
    const commands = place.children.map(({ word, explains }) => pair(word, explains));
    const options = place.options.flatMap(({ long, short, explains }) =>
      [long, short].flatMap((flag) => (flag === null ? [] : [pair(flag, explains)])),
    );
    const operands = place.operands === null ? 'free' : encodeValue(place.operands);
    return `    $places[${quote(placeName(place))}] = @{
        Commands = ${list(commands)}
        Operands = ${quote(operands)}
        Options = ${list(options)}
    }`;
  });
  const values = listFlagValues(places).flatMap(({ flag, value, places: where }) =>
    (where ?? ['*']).map((name) => `    $values[${quote(`${name} ${flag}`)}] = ${quote(encodeValue(value))}`),
  );
  return `# PowerShell completion of vloc. ${HEADER}

Register-ArgumentCompleter -Native -CommandName vloc -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    # The words possible at a place, with descriptions. Keys are case-sensitive: -V is not -v.
    $places = [hashtable]::new([StringComparer]::Ordinal)
${rows.join('\n')}

    # The values that an option takes at a place, * for any place.
    $values = [hashtable]::new([StringComparer]::Ordinal)
${values.join('\n')}
${STEPS}}
`;
}

function pair(word: string, explains: string): string {
  return `@(${quote(word)}, ${quote(explains)})`;
}

/** A list of one pair needs an extra comma, otherwise PowerShell uses the pair as the list. */
function list(pairs: readonly string[]): string {
  return `@(${pairs.length === 1 ? ',' : ''}${pairs.join(', ')})`;
}

/**
 * PowerShell treats curly quotes like straight ones; a doubled quote is a literal one. Source: its language specification,
 * 2.3.5.2.
 */
function quote(text: string): string {
  return `'${text.replaceAll(/['\u2018-\u201b]/g, '$&$&')}'`;
}

const STEPS = `
    function Find-Value($place, $flag) {
        if ($values.ContainsKey("$place $flag")) { return $values["$place $flag"] }
        return $values["* $flag"]
    }

    function New-Result($text, $explains, $type) {
        $tip = if ($explains) { $explains } else { $text }
        [System.Management.Automation.CompletionResult]::new($text, $text, $type, $tip)
    }

    # Values of a form for the typed text; each is prefixed with $before. PowerShell completes files.
    function Get-Values($form, $typed, $before) {
        if ($form.StartsWith(',')) {
            $form = $form.Substring(1)
            $comma = $typed.LastIndexOf(',')
            if ($comma -ge 0) {
                $before += $typed.Substring(0, $comma + 1)
                $typed = $typed.Substring($comma + 1)
            }
        }
        $parts = $form.Split(' ')
        $offered = switch ($parts[0]) {
            'choices' { $parts | Select-Object -Skip 1 }
            'source' { & $program completion values $parts[1] 2>$null }
        }
        foreach ($line in $offered) {
            $word, $explains = $line.Split("\`t", 2)
            if ($word.StartsWith($typed, [StringComparison]::Ordinal)) {
                New-Result "$before$word" $explains 'ParameterValue'
            }
        }
    }

    # The words before the one at the cursor.
    $tokens = @($commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition } |
        ForEach-Object { $_.Extent.Text })
    $program = $commandAst.CommandElements[0].Extent.Text
    $place = ''
    $seen = $false
    $expected = $null
    for ($index = 1; $index -lt $tokens.Count; $index++) {
        $token = $tokens[$index]
        if ($token -like '-*') {
            $value = if ($token -like '*=*') { $null } else { Find-Value $place $token }
            if ($value) {
                $index++
                if ($index -ge $tokens.Count) { $expected = $value }
            }
            continue
        }
        $below = "$place $token".Trim()
        $commands = @($places[$place].Commands | ForEach-Object { $_[0] })
        if (-not $seen -and $commands -ccontains $token) {
            # Commands without a table, as after help, have no subcommands.
            if (-not $places.ContainsKey($below)) { return }
            $place = $below
        } else {
            $seen = $true
        }
    }

    $here = $places[$place]
    if ($expected) {
        return Get-Values $expected $wordToComplete ''
    }
    if ($wordToComplete -match '^(--[^=]+)=(.*)$') {
        $value = Find-Value $place $Matches[1]
        if ($value) { return Get-Values $value $Matches[2] "$($Matches[1])=" }
        return
    }
    if ($wordToComplete -like '-*') {
        foreach ($option in $here.Options) {
            if ($option[0].StartsWith($wordToComplete, [StringComparison]::Ordinal)) {
                New-Result $option[0] $option[1] 'ParameterName'
            }
        }
        return
    }
    if (-not $seen) {
        foreach ($command in $here.Commands) {
            if ($command[0].StartsWith($wordToComplete, [StringComparison]::Ordinal)) {
                New-Result $command[0] $command[1] 'Command'
            }
        }
    }
    Get-Values $here.Operands $wordToComplete ''
`;
