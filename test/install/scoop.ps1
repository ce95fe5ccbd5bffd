#Requires -Version 7
# Scoop installs the archive of the release by its manifest, checks its checksum, and removes it again. Needs a Scoop in PATH.
. "$PSScriptRoot\tools.ps1"
if (-not (Get-Command scoop -ErrorAction Ignore)) { Skip 'Scoop is not installed' }

$root = if ($env:SCOOP) { $env:SCOOP } else { Join-Path $HOME 'scoop' }
function Get-Installed {
    Get-ChildItem (Join-Path $root 'apps'), (Join-Path $root 'shims') | ForEach-Object FullName
}

# As at a prompt: Scoop continues after errors that it expects.
function Invoke-Scoop {
    $ErrorActionPreference = 'Continue'
    scoop @args
}

$server = Start-Server
try {
    $before = Get-Installed
    $manifest = Join-Path (Copy-Manifest scoop) 'vloc.json'
    Invoke-Scoop install --no-update-scoop $manifest
    if (-not (Get-Command vloc -ErrorAction Ignore)) { Fail 'Scoop did not install it' }
    Test-Vloc scoop
    Invoke-Scoop uninstall vloc
    $left = Compare-Object $before (Get-Installed)
    if ($left) { Fail "it left $($left.InputObject)" }

    # Another archive is refused.
    $text = Get-Content $manifest -Raw
    Set-Content $manifest ($text -replace '"hash": "[^"]*"', "`"hash`": `"$('0' * 64)`"")
    try { Invoke-Scoop install --no-update-scoop $manifest } catch { Write-Host $_ }
    if (Get-Command vloc -ErrorAction Ignore) { Fail 'Scoop installs an archive with another checksum' }
} finally {
    Stop-Process -InputObject $server
    Remove-Item $work -Recurse -Force -ErrorAction Ignore
}
Write-Host 'installed, checked and removed by Scoop'
exit 0
