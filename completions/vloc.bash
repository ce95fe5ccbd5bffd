# bash completion of vloc. Made by `npm run generate` from the table of commands; changes here are lost.

# What can stand at a place: sets commands, operands and options.
_vloc_place() {
  commands='' operands='free' options=''
  case $1 in
    '') commands='localize separate recognize translate dub jobs batch webhooks upload credits api doctor profile engines serve schema completion version help' operands='free' options='--version -V --help -h' ;;
    'localize') commands='' operands='files' options='--from --to --mode --voice-mode --subtitle-output --original-audio --resolution --client-reference --callback-url --watch --dry-run --include --exclude --files-from --files-from0 --sheet --order --split --convert --audio-track --detach --set --body --jobs --max-credits --max-duration --fresh --retry-failed --rebuild --out --name --clobber --skip-existing --timeout --stop-after --from-subtitles --subtitle --source-subtitle --subtitle-format --output -o --jq --fields --quiet -q --verbose -v --color --profile --base-url --help -h' ;;
    'separate') commands='' operands='files' options='--client-reference --callback-url --watch --dry-run --include --exclude --files-from --files-from0 --sheet --order --split --convert --audio-track --detach --set --body --jobs --max-credits --max-duration --fresh --retry-failed --rebuild --out --name --clobber --skip-existing --timeout --output -o --jq --fields --quiet -q --verbose -v --color --profile --base-url --help -h' ;;
    'recognize') commands='' operands='files' options='--from --client-reference --callback-url --watch --dry-run --include --exclude --files-from --files-from0 --sheet --order --split --convert --audio-track --detach --set --body --jobs --max-credits --max-duration --fresh --retry-failed --rebuild --out --name --clobber --skip-existing --timeout --subtitle-format --output -o --jq --fields --quiet -q --verbose -v --color --profile --base-url --help -h' ;;
    'translate') commands='' operands='files' options='--from --to --client-reference --callback-url --watch --dry-run --include --exclude --files-from --files-from0 --sheet --order --split --detach --set --body --jobs --max-credits --max-duration --fresh --retry-failed --rebuild --out --name --clobber --skip-existing --timeout --subtitle-format --output -o --jq --fields --quiet -q --verbose -v --color --profile --base-url --help -h' ;;
    'dub') commands='' operands='files' options='--to --voice-mode --client-reference --callback-url --watch --dry-run --include --exclude --files-from --files-from0 --sheet --order --split --detach --set --body --jobs --max-credits --max-duration --fresh --retry-failed --rebuild --out --name --clobber --skip-existing --timeout --output -o --jq --fields --quiet -q --verbose -v --color --profile --base-url --help -h' ;;
    'jobs') commands='list get wait download cancel' operands='free' options='--help -h' ;;
    'jobs list') commands='' operands='free' options='--kind --limit --cursor --since --until --status --client-reference --all --output -o --jq --fields --quiet -q --verbose -v --color --profile --base-url --help -h' ;;
    'jobs get') commands='' operands='source jobs' options='--output -o --jq --fields --quiet -q --verbose -v --color --profile --base-url --help -h' ;;
    'jobs wait') commands='' operands='source jobs' options='--out --name --clobber --skip-existing --timeout --output -o --jq --fields --quiet -q --verbose -v --color --profile --base-url --help -h' ;;
    'jobs download') commands='' operands='source jobs' options='--all-finished --kind --out --name --clobber --skip-existing --output -o --jq --fields --quiet -q --verbose -v --color --profile --base-url --help -h' ;;
    'jobs cancel') commands='' operands='source jobs' options='--output -o --jq --fields --quiet -q --verbose -v --color --profile --base-url --help -h' ;;
    'batch') commands='status retry report' operands='free' options='--help -h' ;;
    'batch status') commands='' operands='folders' options='--all --watch --output -o --jq --fields --quiet -q --verbose -v --color --profile --base-url --help -h' ;;
    'batch retry') commands='' operands='folders' options='--all --dry-run --output -o --jq --fields --quiet -q --verbose -v --color --profile --base-url --help -h' ;;
    'batch report') commands='' operands='folders' options='--format --html --out --output -o --jq --fields --quiet -q --verbose -v --color --profile --base-url --help -h' ;;
    'webhooks') commands='listen verify' operands='free' options='--help -h' ;;
    'webhooks listen') commands='' operands='free' options='--host --port --path --forward-to --exec --until --timeout --secret-stdin --form --header-prefix --tolerance --output -o --jq --fields --quiet -q --verbose -v --color --profile --base-url --help -h' ;;
    'webhooks verify') commands='' operands='free' options='--body --headers --timestamp --id --signature --at --secret-stdin --form --header-prefix --tolerance --output -o --jq --fields --quiet -q --verbose -v --color --profile --base-url --help -h' ;;
    'upload') commands='list get create complete' operands='files' options='--purpose --file-name --client-reference --no-wait --output -o --jq --fields --quiet -q --verbose -v --color --profile --base-url --help -h' ;;
    'upload list') commands='' operands='free' options='--limit --cursor --since --until --status --purpose --all --output -o --jq --fields --quiet -q --verbose -v --color --profile --base-url --help -h' ;;
    'upload get') commands='' operands='source uploads' options='--output -o --jq --fields --quiet -q --verbose -v --color --profile --base-url --help -h' ;;
    'upload create') commands='' operands='free' options='--purpose --file-name --content-type --size-bytes --client-reference --output -o --jq --fields --quiet -q --verbose -v --color --profile --base-url --help -h' ;;
    'upload complete') commands='' operands='source uploads' options='--etag --output -o --jq --fields --quiet -q --verbose -v --color --profile --base-url --help -h' ;;
    'credits') commands='history' operands='free' options='--output -o --jq --fields --quiet -q --verbose -v --color --profile --base-url --help -h' ;;
    'credits history') commands='' operands='free' options='--limit --cursor --since --until --all --output -o --jq --fields --quiet -q --verbose -v --color --profile --base-url --help -h' ;;
    'api') commands='' operands='free' options='--data -d --header -H --idempotency-key --paginate --include --output -o --jq --fields --quiet -q --verbose -v --color --profile --base-url --help -h' ;;
    'doctor') commands='' operands='free' options='--clear-locks --output -o --jq --fields --quiet -q --verbose -v --color --profile --base-url --help -h' ;;
    'profile') commands='add list use show remove' operands='free' options='--help -h' ;;
    'profile add') commands='' operands='source profiles' options='--key --secret-stdin --secret-command --header-prefix --webhook-secret-stdin --webhook-secret-command --store --replace --no-check --output -o --jq --fields --quiet -q --verbose -v --color --profile --base-url --help -h' ;;
    'profile list') commands='' operands='free' options='--output -o --jq --fields --quiet -q --verbose -v --color --profile --base-url --help -h' ;;
    'profile use') commands='' operands='source profiles' options='--output -o --jq --fields --quiet -q --verbose -v --color --profile --base-url --help -h' ;;
    'profile show') commands='' operands='source profiles' options='--output -o --jq --fields --quiet -q --verbose -v --color --profile --base-url --help -h' ;;
    'profile remove') commands='' operands='source profiles' options='--output -o --jq --fields --quiet -q --verbose -v --color --profile --base-url --help -h' ;;
    'engines') commands='list install' operands='free' options='--help -h' ;;
    'engines list') commands='' operands='free' options='--output -o --jq --fields --quiet -q --verbose -v --color --profile --base-url --help -h' ;;
    'engines install') commands='' operands='free' options='--yes -y --output -o --jq --fields --quiet -q --verbose -v --color --profile --base-url --help -h' ;;
    'serve') commands='keys' operands='free' options='--host --port --state-dir --config --public-origin --trusted-proxy --allow-loopback --log --output -o --jq --fields --quiet -q --verbose -v --color --profile --base-url --help -h' ;;
    'serve keys') commands='create list revoke' operands='free' options='--help -h' ;;
    'serve keys create') commands='' operands='free' options='--permission --monthly-quota --allow --state-dir --output -o --jq --fields --quiet -q --verbose -v --color --profile --base-url --help -h' ;;
    'serve keys list') commands='' operands='free' options='--state-dir --output -o --jq --fields --quiet -q --verbose -v --color --profile --base-url --help -h' ;;
    'serve keys revoke') commands='' operands='free' options='--state-dir --output -o --jq --fields --quiet -q --verbose -v --color --profile --base-url --help -h' ;;
    'schema') commands='' operands='free' options='--output -o --jq --fields --quiet -q --verbose -v --color --profile --base-url --help -h' ;;
    'completion') commands='' operands='choices bash zsh fish powershell' options='--output -o --jq --fields --quiet -q --verbose -v --color --profile --base-url --help -h' ;;
    'help') commands='localize separate recognize translate dub jobs batch webhooks upload credits api doctor profile engines serve schema completion exit-codes environment' operands='free' options='--help -h' ;;
    'help jobs') commands='list get wait download cancel' operands='free' options='' ;;
    'help batch') commands='status retry report' operands='free' options='' ;;
    'help webhooks') commands='listen verify' operands='free' options='' ;;
    'help upload') commands='list get create complete' operands='free' options='' ;;
    'help credits') commands='history' operands='free' options='' ;;
    'help profile') commands='add list use show remove' operands='free' options='' ;;
    'help engines') commands='list install' operands='free' options='' ;;
    'help serve') commands='keys' operands='free' options='' ;;
    'help serve keys') commands='create list revoke' operands='free' options='' ;;
  esac
}

# What the option $2 takes at the place $1: sets value, empty for nothing.
_vloc_value() {
  value=''
  case "$1 $2" in
    'localize --from'|'translate --from') value='source translation-sources' ;;
    'recognize --from') value='source recognized' ;;
    'localize --to'|'translate --to') value=',source translation-targets' ;;
    'dub --to') value=',source voices' ;;
    *' --mode') value='choices standard subtitles_only' ;;
    *' --voice-mode') value='choices auto female male' ;;
    *' --subtitle-output') value='choices none soft burned' ;;
    *' --original-audio') value='choices background duck mute' ;;
    *' --resolution') value='choices source 1080p 720p 480p' ;;
    *' --client-reference') value='free' ;;
    *' --callback-url') value='free' ;;
    'localize --include'|'separate --include'|'recognize --include'|'translate --include'|'dub --include') value='free' ;;
    *' --exclude') value='free' ;;
    *' --files-from') value='files' ;;
    *' --files-from0') value='files' ;;
    *' --sheet') value='files' ;;
    *' --order') value='choices given size name' ;;
    *' --audio-track') value='free' ;;
    *' --set') value='free' ;;
    'localize --body'|'separate --body'|'recognize --body'|'translate --body'|'dub --body') value='at-file' ;;
    'webhooks verify --body') value='files' ;;
    *' --jobs') value='free' ;;
    *' --max-credits') value='free' ;;
    *' --max-duration') value='free' ;;
    'localize --out'|'separate --out'|'recognize --out'|'translate --out'|'dub --out'|'jobs wait --out'|'jobs download --out') value='folders' ;;
    'batch report --out') value='files' ;;
    *' --name') value='free' ;;
    *' --timeout') value='free' ;;
    *' --stop-after') value='choices recognize translate' ;;
    *' --subtitle') value='files' ;;
    *' --source-subtitle') value='files' ;;
    *' --subtitle-format') value='choices srt vtt ass' ;;
    *' --output') value='choices table json ndjson plain id' ;;
    *' -o') value='choices table json ndjson plain id' ;;
    *' --jq') value='free' ;;
    'localize --fields'|'separate --fields'|'recognize --fields'|'translate --fields'|'dub --fields'|'jobs wait --fields'|'jobs download --fields'|'jobs cancel --fields') value=',choices input id kind status target_language client_reference charged_credits expires_at files error' ;;
    'jobs list --fields') value=',choices id object status progress client_reference created_at updated_at detail_url input' ;;
    'jobs get --fields') value=',choices id object status progress client_reference created_at updated_at detail_url stage input error result billing expires_at started_at finished_at' ;;
    'batch status --fields'|'batch retry --fields') value=',choices label state kind target_language job_id error files credits attempts asked_at created_at finished_at downloaded_at deadline key' ;;
    'batch report --fields'|'webhooks listen --fields'|'webhooks verify --fields'|'api --fields'|'doctor --fields'|'engines list --fields'|'engines install --fields'|'serve --fields'|'serve keys create --fields'|'serve keys list --fields'|'serve keys revoke --fields'|'schema --fields'|'completion --fields') value=',free' ;;
    'upload --fields'|'upload list --fields'|'upload get --fields'|'upload create --fields'|'upload complete --fields') value=',choices id object status purpose file_name content_type size_bytes upload_request media subtitle error client_reference created_at updated_at expires_at detail_url' ;;
    'credits --fields') value=',choices object balance_credits reserved_credits available_credits monthly_usage' ;;
    'credits history --fields') value=',choices id object amount capability job_id client_reference unit quantity posted_at' ;;
    'profile add --fields'|'profile list --fields'|'profile use --fields'|'profile remove --fields') value=',choices name in_use base_url key header_prefix secret_in webhook_secret_in' ;;
    'profile show --fields') value=',choices setting value origin' ;;
    *' --color') value='choices auto always never' ;;
    *' --profile') value='source profiles' ;;
    *' --base-url') value='free' ;;
    *' --kind') value=',choices separate recognize translate dub localize audio_separation subtitle_recognition subtitle_translation dubbing auto_localization' ;;
    *' --limit') value='free' ;;
    *' --cursor') value='free' ;;
    *' --since') value='free' ;;
    'jobs list --until'|'upload list --until'|'credits history --until') value='free' ;;
    'webhooks listen --until') value='source jobs' ;;
    'jobs list --status') value='choices queued processing succeeded failed cancelled' ;;
    'upload list --status') value='choices waiting_for_upload validating ready failed expired' ;;
    *' --format') value='choices markdown json junit' ;;
    *' --host') value='free' ;;
    *' --port') value='free' ;;
    *' --path') value='free' ;;
    *' --forward-to') value='free' ;;
    *' --exec') value='free' ;;
    *' --form') value='choices auto newline dot' ;;
    *' --header-prefix') value='free' ;;
    *' --tolerance') value='free' ;;
    *' --headers') value='files' ;;
    *' --timestamp') value='free' ;;
    *' --id') value='free' ;;
    *' --signature') value='free' ;;
    *' --at') value='free' ;;
    *' --purpose') value='choices source_video subtitle_file' ;;
    *' --file-name') value='free' ;;
    *' --content-type') value='free' ;;
    *' --size-bytes') value='free' ;;
    *' --etag') value='free' ;;
    *' --data') value='at-file' ;;
    *' -d') value='at-file' ;;
    *' --header') value='free' ;;
    *' -H') value='free' ;;
    *' --idempotency-key') value='free' ;;
    *' --key') value='free' ;;
    *' --secret-command') value='free' ;;
    *' --webhook-secret-command') value='free' ;;
    *' --store') value='choices file keychain' ;;
    *' --state-dir') value='folders' ;;
    *' --config') value='files' ;;
    *' --public-origin') value='free' ;;
    *' --trusted-proxy') value=',free' ;;
    *' --log') value='choices json text' ;;
    *' --permission') value=',choices separate recognize translate dub localize audio_separation subtitle_recognition subtitle_translation dubbing auto_localization' ;;
    *' --monthly-quota') value='free' ;;
    *' --allow') value=',free' ;;
  esac
}

# Replies with the words of stdin (up to a tab) that begin with $1, with $2 before each.
_vloc_reply() {
  local word rest
  while IFS=$'\t' read -r word rest; do
    [[ $word == "$1"* ]] && COMPREPLY+=("$2$word")
  done
}

_vloc_words() {
  local word
  for word in "$@"; do printf '%s\n' "$word"; done
}

# Replies with values of the form $1 for the text $2; $3 stands before them, $4 is the program.
_vloc_offer() {
  local form=$1 text=$2 before=$3 names=''
  if [[ $form == ,* ]]; then
    form=${form#,}
    [[ $text == *,* ]] && before+=${text%,*},
    text=${text##*,}
  fi
  case $form in
    'choices '*) names=${form#choices } && _vloc_reply "$text" "$before" < <(_vloc_words $names) ;;
    'source '*)
      compopt -o nosort 2>/dev/null
      _vloc_reply "$text" "$before" < <("$4" completion values "${form#source }" 2>/dev/null)
      ;;
    # An empty reply leaves the names of files to readline, which knows how to quote them.
    files) return ;;
    folders) compopt +o default -o dirnames 2>/dev/null && return ;;
    at-file)
      if [[ $text == @* ]]; then
        compopt -o filenames 2>/dev/null
        [[ $COMP_WORDBREAKS == *@* ]] && before='' || before+='@'
        _vloc_reply "${text#@}" "$before" < <(compgen -f -- "${text#@}")
      fi
      ;;
  esac
  # There is nothing to offer, so no file is meant either.
  compopt +o default 2>/dev/null
}

_vloc() {
  COMPREPLY=()
  local commands operands options value word glue='' place='' expected='' seen='' index
  local -a words
  # Bash takes = and @ for words of their own; here --name=value is one, and so is @file.
  for ((index = 0; index <= COMP_CWORD; index++)); do
    word=${COMP_WORDS[index]}
    if [[ $word == =* && ${#words[@]} -gt 0 ]]; then
      words[${#words[@]} - 1]+=$word
      glue=yes
    elif [[ $word == @ ]]; then
      words+=(@)
      glue=yes
    elif [[ -n $glue ]]; then
      words[${#words[@]} - 1]+=$word
      glue=''
    else
      words+=("$word")
    fi
  done
  local last=$((${#words[@]} - 1))
  local current=${words[last]}

  _vloc_place ''
  for ((index = 1; index < last; index++)); do
    word=${words[index]}
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
          place="${place:+$place }$word"
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
    _vloc_value "$place" "${current%%=*}"
    local before="${current%%=*}="
    # Readline then replaces only what stands behind the sign.
    [[ $COMP_WORDBREAKS == *=* ]] && before=''
    _vloc_offer "${value:-free}" "${current#*=}" "$before" "$1"
  elif [[ $current == -* ]]; then
    _vloc_reply "$current" '' < <(_vloc_words $options)
  else
    [[ -z $seen ]] && _vloc_reply "$current" '' < <(_vloc_words $commands)
    _vloc_offer "$operands" "$current" '' "$1"
  fi
}

complete -o default -F _vloc vloc
