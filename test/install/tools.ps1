# Included by the PowerShell scripts in this folder: ways to install vloc that only Windows has. The release workflow runs them.
$ErrorActionPreference = 'Stop'
$project = Split-Path (Split-Path $PSScriptRoot)
$files = Join-Path $project 'release-files'
$version = (Get-Content (Join-Path $project 'package.json') -Raw | ConvertFrom-Json).version
$archive = "vloc-$version-windows-x64.zip"
$work = Join-Path ([IO.Path]::GetTempPath()) "vloc-install-$PID"
$address = 'http://127.0.0.1:8641'

function Skip([string] $Why) {
    Write-Host "Skipped: $Why"
    exit 77
}

function Fail([string] $Why) {
    Write-Host "Failed: $Why"
    exit 1
}

if (-not $IsWindows) { Skip 'this is not Windows' }
foreach ($path in $archive, 'manifests') {
    if (-not (Test-Path (Join-Path $files $path))) { Skip "there is no $path in release-files" }
}
if (-not (Get-Command python -ErrorAction Ignore)) { Skip 'python is not installed' }

# Package managers download the archive. It is not published yet, so this machine serves it. Returns the process.
function Start-Server {
    $arguments = '-m', 'http.server', '--bind', '127.0.0.1', '--directory', "`"$files`"", ([uri] $address).Port
    $server = Start-Process python $arguments -PassThru -WindowStyle Hidden
    foreach ($try in 1..30) {
        try {
            Invoke-WebRequest "$address/SHA256SUMS" | Out-Null
            return $server
        } catch { Start-Sleep -Seconds 1 }
    }
    Fail 'the server for the archive does not start'
}

# Copies the manifests of a package manager. Only the address of the archive is another one. Returns the folder.
function Copy-Manifest([string] $Name) {
    $copy = Join-Path $work $Name
    New-Item -ItemType Directory $copy | Out-Null
    foreach ($file in Get-ChildItem (Join-Path $files "manifests\$Name")) {
        $text = Get-Content $file -Raw
        $text = $text -replace "https://[^`"]*/$([regex]::Escape($archive))", "$address/$archive"
        Set-Content (Join-Path $copy $file.Name) $text -NoNewline
    }
    $copy
}

# Tries the vloc in PATH. The service in it takes a file, so its native parts and this disk work together.
function Test-Vloc([string] $Way) {
    $env:VLOC_STATE_DIR = Join-Path $work 'state'
    $printed = vloc --version
    if ($printed -ne $version) { Fail "it prints the version $printed, not $version" }
    $found = (vloc upgrade -o json | ConvertFrom-Json).installed_by
    if ($found -ne $Way) { Fail "it says that it was installed by $found, not $Way" }
    if (-not ((vloc completion powershell) -match 'Register-ArgumentCompleter')) { Fail 'it finds no completions' }
    vloc --no-such-option 2>$null
    if ($LASTEXITCODE -ne 2) { Fail "a wrong option ends with $LASTEXITCODE" }
    $subtitles = Join-Path $work 'talk.srt'
    Set-Content $subtitles "1`n00:00:00,000 --> 00:00:01,000`nHello`n" -NoNewline
    vloc upload $subtitles --profile local
    if ($LASTEXITCODE -ne 0) { Fail "the embedded service takes no file: $LASTEXITCODE" }
}
