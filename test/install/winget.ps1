#Requires -Version 7
# winget checks the manifests of the release, installs the archive by them, and removes it again. Needs an administrator.
. "$PSScriptRoot\tools.ps1"
if (-not (Get-Command winget -ErrorAction Ignore)) { Skip 'winget is not installed' }

# A winget that is older than the schema of the manifests only warns.
winget validate --ignore-warnings --manifest (Join-Path $files 'manifests\winget')
if ($LASTEXITCODE -ne 0) { Fail "winget finds the manifests wrong: $LASTEXITCODE" }

$places = Join-Path $env:LOCALAPPDATA 'Microsoft\WinGet\Packages'
function Get-Vloc {
    Get-ChildItem $places -Filter '*.vloc_*' -ErrorAction Ignore
}
$quiet = '--accept-source-agreements', '--disable-interactivity'

if (Get-Vloc) { Skip 'winget has installed vloc on this machine' }
$server = Start-Server
winget settings --enable LocalManifestFiles
try {
    winget install --manifest (Copy-Manifest winget) --accept-package-agreements @quiet
    if ($LASTEXITCODE -ne 0) { Fail "winget did not install it: $LASTEXITCODE" }
    # It changed the PATH of new programs: this one started before.
    $env:PATH = @('Machine', 'User' | ForEach-Object { [Environment]::GetEnvironmentVariable('Path', $_) }) -join ';'
    Test-Vloc winget
    # The name of the folder is what winget calls the product code.
    winget uninstall --product-code (Get-Vloc).Name @quiet
    if ($LASTEXITCODE -ne 0) { Fail "winget did not remove it: $LASTEXITCODE" }
    if (Get-Vloc) { Fail "it left $(Get-Vloc)" }
    if (Get-Command vloc -ErrorAction Ignore) { Fail 'it left the command' }
} finally {
    winget settings --disable LocalManifestFiles
    Stop-Process -InputObject $server
    Remove-Item $work -Recurse -Force -ErrorAction Ignore
}
Write-Host 'checked, installed and removed by winget'
exit 0
