# PowerShell completion of vloc, for 5.1 and newer. `vloc completion complete` answers what is possible.

Register-ArgumentCompleter -Native -CommandName vloc -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    # The words before the one at the cursor. Quotes in arguments are lost before PowerShell 7.3.
    $program = $commandAst.CommandElements[0].Extent.Text
    $words = @($commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition } |
        Select-Object -Skip 1 | ForEach-Object { $_.Extent.Text -replace '["'']', '' })
    $current = "$wordToComplete" -replace '["'']', ''
    # An empty argument is lost, too.
    if ($current -eq '') { $current = ' ' }
    $answer = @(& $program completion complete -- $words $current 2>$null)
    if ($answer.Count -eq 0) { return }
    $kind, $kept = $answer[0].Split("`t", 2)
    $typed = $current.Trim()
    $found = foreach ($line in ($answer | Select-Object -Skip 1)) {
        $word, $explains = $line.Split("`t", 2)
        if ("$kept$word".StartsWith($typed, [StringComparison]::Ordinal)) {
            $type = if ($word.StartsWith('-')) { 'ParameterName' } else { 'ParameterValue' }
            $tip = if ($explains) { $explains } else { $word }
            [System.Management.Automation.CompletionResult]::new("$kept$word", $word, $type, $tip)
        }
    }
    if ($found) { return $found }
    # PowerShell completes files after an empty result, and nothing after an empty text.
    if ($kind -eq 'words') { return '' }
}
