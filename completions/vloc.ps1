# PowerShell completion of vloc. Made by `npm run generate` from the table of commands; changes here are lost.

Register-ArgumentCompleter -Native -CommandName vloc -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    # What can stand at a place, each word with what it means. Keys are told apart by case: -V is not -v.
    $places = [hashtable]::new([StringComparer]::Ordinal)
    $places[''] = @{
        Commands = @(@('localize', 'bring whole videos into other languages'), @('separate', 'split the sound of videos into voice and background'), @('recognize', 'transcribe videos into subtitles'), @('translate', 'translate subtitles into other languages'), @('dub', 'speak subtitles as sound tracks that keep their times'), @('jobs', 'look at jobs, wait for them, fetch their results'), @('batch', 'show, retry and report on a folder of results'), @('webhooks', 'receive and verify job-completion webhooks'), @('upload', 'upload files that jobs can use as their input'), @('credits', 'show the credits that are left'), @('api', 'make any signed call'), @('doctor', 'check this machine, the connection and the credentials'), @('profile', 'keep services and their keys under names'), @('engines', 'see and install the media engines of the embedded service'), @('serve', 'run the embedded service for other programs'), @('schema', 'print the OpenAPI document of the interface'), @('completion', 'print the script that completes commands in a shell'), @('version', 'print the version'), @('help', 'show the help of a command or of a topic'))
        Operands = 'free'
        Options = @(@('--version', 'print the version'), @('-V', 'print the version'), @('--help', 'display help for command'), @('-h', 'display help for command'))
    }
    $places['localize'] = @{
        Commands = @()
        Operands = 'files'
        Options = @(@('--from', 'language that is spoken or written, a BCP 47 tag, or auto (default: auto)'), @('--to', 'language to produce, a BCP 47 tag; several, separated by commas, make a job each'), @('--mode', 'dub the voice, or keep it and only translate the subtitles (default: standard)'), @('--voice-mode', 'which voice speaks the dub (default: auto)'), @('--subtitle-output', 'subtitles in the result: none, a track that can be switched off, or drawn into the picture (default: none)'), @('--original-audio', 'original sound to keep: all but the voice (background), all of it at a lower volume, or none (default: background)'), @('--resolution', 'height of the picture; never enlarged (default: source)'), @('--client-reference', 'your own reference, 1 to 128 characters'), @('--callback-url', 'HTTPS URL to notify when the job ends'), @('--watch', 'process new files in the folders, each when it is written completely, until Ctrl-C'), @('--dry-run', 'print the plan and its cost; submit nothing'), @('--include', 'only include files in folders that match this glob, such as *.mp4; repeatable'), @('--exclude', 'skip files in folders that match this glob; repeatable'), @('--files-from', 'take the inputs from a list, one a line; - is stdin'), @('--files-from0', 'the same, NUL-separated, as find -print0 writes'), @('--sheet', 'CSV or JSON with a row for each input: file, to and other options; a row wins over the flags'), @('--order', 'begin with the smallest, or by name (default: as given, folders by name)'), @('--split', 'cut videos that are too long for one job at silences, run the parts, and join them; each part is a job'), @('--convert', 'make an MP4 of a video that the service does not take, such as MKV, WebM or TS, before it is sent'), @('--audio-track', 'which audio track of a video with several, counted from 1'), @('--detach', 'print the ids of the jobs and do not wait'), @('--set', 'a request field that vloc does not know: JSON or text, a.b=1 for nested ones; may be repeated'), @('--body', 'JSON object with request fields, from a file or (-) stdin; flags win over it'), @('--jobs', 'jobs that may run at a time (default: 15, the limit of the service)'), @('--max-credits', 'send no job that would bring the credits of this command above n'), @('--max-duration', 'send no new job after 90s, 30m, 2h; those that run are waited for'), @('--fresh', 'make new jobs, charged again, whatever was done here before'), @('--retry-failed', 'also retry items that failed permanently'), @('--rebuild', 'continue jobs that the service has and the record of the folder lacks, also those made for other folders'), @('--out', 'folder for the results, created if missing (default: the current one); - writes a single result to stdout'), @('--name', 'names of the results, of {stem}, {lang}, {asset}, {id} and {ext}, which has its dot: {stem}-{lang}{ext}'), @('--clobber', 'replace files that exist'), @('--skip-existing', 'skip results that already exist'), @('--timeout', 'stop waiting after 90s, 30m, 2h; the job continues'), @('--stop-after', 'stop there, with the subtitles beside the videos for you to edit; prints the command that continues'), @('--from-subtitles', 'continue from the subtitles beside the videos: {stem}.{lang}.srt, .vtt or .ass; existing ones are not remade'), @('--subtitle', 'your own subtitles in the target language, for one video: nothing is recognized or translated'), @('--source-subtitle', 'your own subtitles in the spoken language, for one video: skips recognition'), @('--subtitle-format', 'format of the subtitles that are written (default: srt)'), @('--output', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('-o', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('--jq', 'filter the JSON with a jq expression'), @('--fields', 'only these fields of each record, separated by commas'), @('--quiet', 'no progress and no notes on stderr'), @('-q', 'no progress and no notes on stderr'), @('--verbose', 'show requests on stderr, without secrets'), @('-v', 'show requests on stderr, without secrets'), @('--color', 'colour of messages and tables'), @('--profile', 'profile to use; `local` is the embedded service'), @('--base-url', 'address of the service, ending in /v1'), @('--help', 'display help for command'), @('-h', 'display help for command'))
    }
    $places['separate'] = @{
        Commands = @()
        Operands = 'files'
        Options = @(@('--client-reference', 'your own reference, 1 to 128 characters'), @('--callback-url', 'HTTPS URL to notify when the job ends'), @('--watch', 'process new files in the folders, each when it is written completely, until Ctrl-C'), @('--dry-run', 'print the plan and its cost; submit nothing'), @('--include', 'only include files in folders that match this glob, such as *.mp4; repeatable'), @('--exclude', 'skip files in folders that match this glob; repeatable'), @('--files-from', 'take the inputs from a list, one a line; - is stdin'), @('--files-from0', 'the same, NUL-separated, as find -print0 writes'), @('--sheet', 'CSV or JSON with a row for each input: file, to and other options; a row wins over the flags'), @('--order', 'begin with the smallest, or by name (default: as given, folders by name)'), @('--split', 'cut videos that are too long for one job at silences, run the parts, and join them; each part is a job'), @('--convert', 'make an MP4 of a video that the service does not take, such as MKV, WebM or TS, before it is sent'), @('--audio-track', 'which audio track of a video with several, counted from 1'), @('--detach', 'print the ids of the jobs and do not wait'), @('--set', 'a request field that vloc does not know: JSON or text, a.b=1 for nested ones; may be repeated'), @('--body', 'JSON object with request fields, from a file or (-) stdin; flags win over it'), @('--jobs', 'jobs that may run at a time (default: 15, the limit of the service)'), @('--max-credits', 'send no job that would bring the credits of this command above n'), @('--max-duration', 'send no new job after 90s, 30m, 2h; those that run are waited for'), @('--fresh', 'make new jobs, charged again, whatever was done here before'), @('--retry-failed', 'also retry items that failed permanently'), @('--rebuild', 'continue jobs that the service has and the record of the folder lacks, also those made for other folders'), @('--out', 'folder for the results, created if missing (default: the current one); - writes a single result to stdout'), @('--name', 'names of the results, of {stem}, {lang}, {asset}, {id} and {ext}, which has its dot: {stem}-{lang}{ext}'), @('--clobber', 'replace files that exist'), @('--skip-existing', 'skip results that already exist'), @('--timeout', 'stop waiting after 90s, 30m, 2h; the job continues'), @('--output', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('-o', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('--jq', 'filter the JSON with a jq expression'), @('--fields', 'only these fields of each record, separated by commas'), @('--quiet', 'no progress and no notes on stderr'), @('-q', 'no progress and no notes on stderr'), @('--verbose', 'show requests on stderr, without secrets'), @('-v', 'show requests on stderr, without secrets'), @('--color', 'colour of messages and tables'), @('--profile', 'profile to use; `local` is the embedded service'), @('--base-url', 'address of the service, ending in /v1'), @('--help', 'display help for command'), @('-h', 'display help for command'))
    }
    $places['recognize'] = @{
        Commands = @()
        Operands = 'files'
        Options = @(@('--from', 'language that is spoken or written, a BCP 47 tag, or auto (default: auto)'), @('--client-reference', 'your own reference, 1 to 128 characters'), @('--callback-url', 'HTTPS URL to notify when the job ends'), @('--watch', 'process new files in the folders, each when it is written completely, until Ctrl-C'), @('--dry-run', 'print the plan and its cost; submit nothing'), @('--include', 'only include files in folders that match this glob, such as *.mp4; repeatable'), @('--exclude', 'skip files in folders that match this glob; repeatable'), @('--files-from', 'take the inputs from a list, one a line; - is stdin'), @('--files-from0', 'the same, NUL-separated, as find -print0 writes'), @('--sheet', 'CSV or JSON with a row for each input: file, to and other options; a row wins over the flags'), @('--order', 'begin with the smallest, or by name (default: as given, folders by name)'), @('--split', 'cut videos that are too long for one job at silences, run the parts, and join them; each part is a job'), @('--convert', 'make an MP4 of a video that the service does not take, such as MKV, WebM or TS, before it is sent'), @('--audio-track', 'which audio track of a video with several, counted from 1'), @('--detach', 'print the ids of the jobs and do not wait'), @('--set', 'a request field that vloc does not know: JSON or text, a.b=1 for nested ones; may be repeated'), @('--body', 'JSON object with request fields, from a file or (-) stdin; flags win over it'), @('--jobs', 'jobs that may run at a time (default: 15, the limit of the service)'), @('--max-credits', 'send no job that would bring the credits of this command above n'), @('--max-duration', 'send no new job after 90s, 30m, 2h; those that run are waited for'), @('--fresh', 'make new jobs, charged again, whatever was done here before'), @('--retry-failed', 'also retry items that failed permanently'), @('--rebuild', 'continue jobs that the service has and the record of the folder lacks, also those made for other folders'), @('--out', 'folder for the results, created if missing (default: the current one); - writes a single result to stdout'), @('--name', 'names of the results, of {stem}, {lang}, {asset}, {id} and {ext}, which has its dot: {stem}-{lang}{ext}'), @('--clobber', 'replace files that exist'), @('--skip-existing', 'skip results that already exist'), @('--timeout', 'stop waiting after 90s, 30m, 2h; the job continues'), @('--subtitle-format', 'format of the subtitles that are written (default: srt)'), @('--output', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('-o', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('--jq', 'filter the JSON with a jq expression'), @('--fields', 'only these fields of each record, separated by commas'), @('--quiet', 'no progress and no notes on stderr'), @('-q', 'no progress and no notes on stderr'), @('--verbose', 'show requests on stderr, without secrets'), @('-v', 'show requests on stderr, without secrets'), @('--color', 'colour of messages and tables'), @('--profile', 'profile to use; `local` is the embedded service'), @('--base-url', 'address of the service, ending in /v1'), @('--help', 'display help for command'), @('-h', 'display help for command'))
    }
    $places['translate'] = @{
        Commands = @()
        Operands = 'files'
        Options = @(@('--from', 'language that is spoken or written, a BCP 47 tag, or auto (default: auto)'), @('--to', 'language to produce, a BCP 47 tag; several, separated by commas, make a job each'), @('--client-reference', 'your own reference, 1 to 128 characters'), @('--callback-url', 'HTTPS URL to notify when the job ends'), @('--watch', 'process new files in the folders, each when it is written completely, until Ctrl-C'), @('--dry-run', 'print the plan and its cost; submit nothing'), @('--include', 'only include files in folders that match this glob, such as *.mp4; repeatable'), @('--exclude', 'skip files in folders that match this glob; repeatable'), @('--files-from', 'take the inputs from a list, one a line; - is stdin'), @('--files-from0', 'the same, NUL-separated, as find -print0 writes'), @('--sheet', 'CSV or JSON with a row for each input: file, to and other options; a row wins over the flags'), @('--order', 'begin with the smallest, or by name (default: as given, folders by name)'), @('--split', 'cut videos that are too long for one job at silences, run the parts, and join them; each part is a job'), @('--detach', 'print the ids of the jobs and do not wait'), @('--set', 'a request field that vloc does not know: JSON or text, a.b=1 for nested ones; may be repeated'), @('--body', 'JSON object with request fields, from a file or (-) stdin; flags win over it'), @('--jobs', 'jobs that may run at a time (default: 15, the limit of the service)'), @('--max-credits', 'send no job that would bring the credits of this command above n'), @('--max-duration', 'send no new job after 90s, 30m, 2h; those that run are waited for'), @('--fresh', 'make new jobs, charged again, whatever was done here before'), @('--retry-failed', 'also retry items that failed permanently'), @('--rebuild', 'continue jobs that the service has and the record of the folder lacks, also those made for other folders'), @('--out', 'folder for the results, created if missing (default: the current one); - writes a single result to stdout'), @('--name', 'names of the results, of {stem}, {lang}, {asset}, {id} and {ext}, which has its dot: {stem}-{lang}{ext}'), @('--clobber', 'replace files that exist'), @('--skip-existing', 'skip results that already exist'), @('--timeout', 'stop waiting after 90s, 30m, 2h; the job continues'), @('--subtitle-format', 'format of the subtitles that are written (default: srt)'), @('--output', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('-o', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('--jq', 'filter the JSON with a jq expression'), @('--fields', 'only these fields of each record, separated by commas'), @('--quiet', 'no progress and no notes on stderr'), @('-q', 'no progress and no notes on stderr'), @('--verbose', 'show requests on stderr, without secrets'), @('-v', 'show requests on stderr, without secrets'), @('--color', 'colour of messages and tables'), @('--profile', 'profile to use; `local` is the embedded service'), @('--base-url', 'address of the service, ending in /v1'), @('--help', 'display help for command'), @('-h', 'display help for command'))
    }
    $places['dub'] = @{
        Commands = @()
        Operands = 'files'
        Options = @(@('--to', 'language to produce, a BCP 47 tag; several, separated by commas, make a job each'), @('--voice-mode', 'which voice speaks the dub (default: auto)'), @('--client-reference', 'your own reference, 1 to 128 characters'), @('--callback-url', 'HTTPS URL to notify when the job ends'), @('--watch', 'process new files in the folders, each when it is written completely, until Ctrl-C'), @('--dry-run', 'print the plan and its cost; submit nothing'), @('--include', 'only include files in folders that match this glob, such as *.mp4; repeatable'), @('--exclude', 'skip files in folders that match this glob; repeatable'), @('--files-from', 'take the inputs from a list, one a line; - is stdin'), @('--files-from0', 'the same, NUL-separated, as find -print0 writes'), @('--sheet', 'CSV or JSON with a row for each input: file, to and other options; a row wins over the flags'), @('--order', 'begin with the smallest, or by name (default: as given, folders by name)'), @('--split', 'cut videos that are too long for one job at silences, run the parts, and join them; each part is a job'), @('--detach', 'print the ids of the jobs and do not wait'), @('--set', 'a request field that vloc does not know: JSON or text, a.b=1 for nested ones; may be repeated'), @('--body', 'JSON object with request fields, from a file or (-) stdin; flags win over it'), @('--jobs', 'jobs that may run at a time (default: 15, the limit of the service)'), @('--max-credits', 'send no job that would bring the credits of this command above n'), @('--max-duration', 'send no new job after 90s, 30m, 2h; those that run are waited for'), @('--fresh', 'make new jobs, charged again, whatever was done here before'), @('--retry-failed', 'also retry items that failed permanently'), @('--rebuild', 'continue jobs that the service has and the record of the folder lacks, also those made for other folders'), @('--out', 'folder for the results, created if missing (default: the current one); - writes a single result to stdout'), @('--name', 'names of the results, of {stem}, {lang}, {asset}, {id} and {ext}, which has its dot: {stem}-{lang}{ext}'), @('--clobber', 'replace files that exist'), @('--skip-existing', 'skip results that already exist'), @('--timeout', 'stop waiting after 90s, 30m, 2h; the job continues'), @('--output', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('-o', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('--jq', 'filter the JSON with a jq expression'), @('--fields', 'only these fields of each record, separated by commas'), @('--quiet', 'no progress and no notes on stderr'), @('-q', 'no progress and no notes on stderr'), @('--verbose', 'show requests on stderr, without secrets'), @('-v', 'show requests on stderr, without secrets'), @('--color', 'colour of messages and tables'), @('--profile', 'profile to use; `local` is the embedded service'), @('--base-url', 'address of the service, ending in /v1'), @('--help', 'display help for command'), @('-h', 'display help for command'))
    }
    $places['jobs'] = @{
        Commands = @(@('list', 'list jobs of all kinds, the newest first'), @('get', 'show jobs as they are now'), @('wait', 'wait for jobs and download their results'), @('download', 'download the results of finished jobs'), @('cancel', 'cancel jobs that have not ended'))
        Operands = 'free'
        Options = @(@('--help', 'display help for command'), @('-h', 'display help for command'))
    }
    $places['jobs list'] = @{
        Commands = @()
        Operands = 'free'
        Options = @(@('--kind', 'only these kinds: separate, recognize, translate, dub, localize; also by their full names'), @('--limit', 'how many at most, over as many pages as it takes (default: 20)'), @('--cursor', 'continue from a previous next_cursor, with the same filters'), @('--since', 'created at or after: a date, a time with its zone, or an age such as 7d'), @('--until', 'created before: a date, a time with its zone, or an age'), @('--status', 'only jobs in this state'), @('--client-reference', 'only jobs with this reference'), @('--all', 'everything there is, page after page'), @('--output', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('-o', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('--jq', 'filter the JSON with a jq expression'), @('--fields', 'only these fields of each record, separated by commas'), @('--quiet', 'no progress and no notes on stderr'), @('-q', 'no progress and no notes on stderr'), @('--verbose', 'show requests on stderr, without secrets'), @('-v', 'show requests on stderr, without secrets'), @('--color', 'colour of messages and tables'), @('--profile', 'profile to use; `local` is the embedded service'), @('--base-url', 'address of the service, ending in /v1'), @('--help', 'display help for command'), @('-h', 'display help for command'))
    }
    $places['jobs get'] = @{
        Commands = @()
        Operands = 'source jobs'
        Options = @(@('--output', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('-o', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('--jq', 'filter the JSON with a jq expression'), @('--fields', 'only these fields of each record, separated by commas'), @('--quiet', 'no progress and no notes on stderr'), @('-q', 'no progress and no notes on stderr'), @('--verbose', 'show requests on stderr, without secrets'), @('-v', 'show requests on stderr, without secrets'), @('--color', 'colour of messages and tables'), @('--profile', 'profile to use; `local` is the embedded service'), @('--base-url', 'address of the service, ending in /v1'), @('--help', 'display help for command'), @('-h', 'display help for command'))
    }
    $places['jobs wait'] = @{
        Commands = @()
        Operands = 'source jobs'
        Options = @(@('--out', 'folder for the results (default: that of the run that made the job, else the current one)'), @('--name', 'names of the results, of {stem}, {lang}, {asset}, {id} and {ext}, which has its dot: {stem}-{lang}{ext}'), @('--clobber', 'replace files that exist'), @('--skip-existing', 'skip results that already exist'), @('--timeout', 'stop waiting after 90s, 30m, 2h; the job continues'), @('--output', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('-o', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('--jq', 'filter the JSON with a jq expression'), @('--fields', 'only these fields of each record, separated by commas'), @('--quiet', 'no progress and no notes on stderr'), @('-q', 'no progress and no notes on stderr'), @('--verbose', 'show requests on stderr, without secrets'), @('-v', 'show requests on stderr, without secrets'), @('--color', 'colour of messages and tables'), @('--profile', 'profile to use; `local` is the embedded service'), @('--base-url', 'address of the service, ending in /v1'), @('--help', 'display help for command'), @('-h', 'display help for command'))
    }
    $places['jobs download'] = @{
        Commands = @()
        Operands = 'source jobs'
        Options = @(@('--all-finished', 'the results of all succeeded jobs that are not in the folder yet'), @('--kind', 'only these kinds: separate, recognize, translate, dub, localize; also by their full names'), @('--out', 'folder for the results (default: that of the run that made the job, else the current one)'), @('--name', 'names of the results, of {stem}, {lang}, {asset}, {id} and {ext}, which has its dot: {stem}-{lang}{ext}'), @('--clobber', 'replace files that exist'), @('--skip-existing', 'skip results that already exist'), @('--output', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('-o', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('--jq', 'filter the JSON with a jq expression'), @('--fields', 'only these fields of each record, separated by commas'), @('--quiet', 'no progress and no notes on stderr'), @('-q', 'no progress and no notes on stderr'), @('--verbose', 'show requests on stderr, without secrets'), @('-v', 'show requests on stderr, without secrets'), @('--color', 'colour of messages and tables'), @('--profile', 'profile to use; `local` is the embedded service'), @('--base-url', 'address of the service, ending in /v1'), @('--help', 'display help for command'), @('-h', 'display help for command'))
    }
    $places['jobs cancel'] = @{
        Commands = @()
        Operands = 'source jobs'
        Options = @(@('--output', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('-o', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('--jq', 'filter the JSON with a jq expression'), @('--fields', 'only these fields of each record, separated by commas'), @('--quiet', 'no progress and no notes on stderr'), @('-q', 'no progress and no notes on stderr'), @('--verbose', 'show requests on stderr, without secrets'), @('-v', 'show requests on stderr, without secrets'), @('--color', 'colour of messages and tables'), @('--profile', 'profile to use; `local` is the embedded service'), @('--base-url', 'address of the service, ending in /v1'), @('--help', 'display help for command'), @('-h', 'display help for command'))
    }
    $places['batch'] = @{
        Commands = @(@('status', 'show the state of the items of a folder, without asking the service'), @('retry', 'run only failed items again'), @('report', 'write a report on a folder: a page to look at, Markdown, JSON or JUnit XML'))
        Operands = 'free'
        Options = @(@('--help', 'display help for command'), @('-h', 'display help for command'))
    }
    $places['batch status'] = @{
        Commands = @()
        Operands = 'folders'
        Options = @(@('--all', 'also list finished items'), @('--watch', 'refresh every two seconds until everything has finished, or Ctrl-C'), @('--output', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('-o', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('--jq', 'filter the JSON with a jq expression'), @('--fields', 'only these fields of each record, separated by commas'), @('--quiet', 'no progress and no notes on stderr'), @('-q', 'no progress and no notes on stderr'), @('--verbose', 'show requests on stderr, without secrets'), @('-v', 'show requests on stderr, without secrets'), @('--color', 'colour of messages and tables'), @('--profile', 'profile to use; `local` is the embedded service'), @('--base-url', 'address of the service, ending in /v1'), @('--help', 'display help for command'), @('-h', 'display help for command'))
    }
    $places['batch retry'] = @{
        Commands = @()
        Operands = 'folders'
        Options = @(@('--all', 'also retry items that failed permanently, were cancelled or have expired'), @('--dry-run', 'list the items that would run; send nothing'), @('--output', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('-o', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('--jq', 'filter the JSON with a jq expression'), @('--fields', 'only these fields of each record, separated by commas'), @('--quiet', 'no progress and no notes on stderr'), @('-q', 'no progress and no notes on stderr'), @('--verbose', 'show requests on stderr, without secrets'), @('-v', 'show requests on stderr, without secrets'), @('--color', 'colour of messages and tables'), @('--profile', 'profile to use; `local` is the embedded service'), @('--base-url', 'address of the service, ending in /v1'), @('--help', 'display help for command'), @('-h', 'display help for command'))
    }
    $places['batch report'] = @{
        Commands = @()
        Operands = 'folders'
        Options = @(@('--format', 'form of the report (default: markdown; json with --output json)'), @('--html', 'one page to look at and to hand on with the folder: players, subtitles, waveforms (default place: report.html in the folder)'), @('--out', 'write to this file, replacing it (default: stdout)'), @('--output', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('-o', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('--jq', 'filter the JSON with a jq expression'), @('--fields', 'only these fields of each record, separated by commas'), @('--quiet', 'no progress and no notes on stderr'), @('-q', 'no progress and no notes on stderr'), @('--verbose', 'show requests on stderr, without secrets'), @('-v', 'show requests on stderr, without secrets'), @('--color', 'colour of messages and tables'), @('--profile', 'profile to use; `local` is the embedded service'), @('--base-url', 'address of the service, ending in /v1'), @('--help', 'display help for command'), @('-h', 'display help for command'))
    }
    $places['webhooks'] = @{
        Commands = @(@('listen', 'receive webhooks, verify them, forward them, run a command for each'), @('verify', 'say whether a webhook that was saved is genuine, and if not, why'))
        Operands = 'free'
        Options = @(@('--help', 'display help for command'), @('-h', 'display help for command'))
    }
    $places['webhooks listen'] = @{
        Commands = @()
        Operands = 'free'
        Options = @(@('--host', 'address to listen on (default: 127.0.0.1)'), @('--port', 'port to listen on (default: one that is free)'), @('--path', 'the only path that is answered (default: /)'), @('--forward-to', 'send genuine events on, unchanged, to an address such as http://localhost:3000/hook'), @('--exec', 'run a shell command for each event: its JSON on stdin, its facts in VLOC_EVENT_*'), @('--until', 'end when this job has ended: 0 for success, else 5'), @('--timeout', 'listen no longer than 90s, 30m, 2h'), @('--secret-stdin', 'read the webhook secret from stdin, not from VLOC_WEBHOOK_SECRET or the profile'), @('--form', 'separator of the three signed parts; auto tries both and reports which one matched'), @('--header-prefix', 'start of the header names (default: as configured, else X-Service)'), @('--tolerance', 'how old or new a delivery may be (default: 300s)'), @('--output', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('-o', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('--jq', 'filter the JSON with a jq expression'), @('--fields', 'only these fields of each record, separated by commas'), @('--quiet', 'no progress and no notes on stderr'), @('-q', 'no progress and no notes on stderr'), @('--verbose', 'show requests on stderr, without secrets'), @('-v', 'show requests on stderr, without secrets'), @('--color', 'colour of messages and tables'), @('--profile', 'profile to use; `local` is the embedded service'), @('--base-url', 'address of the service, ending in /v1'), @('--help', 'display help for command'), @('-h', 'display help for command'))
    }
    $places['webhooks verify'] = @{
        Commands = @()
        Operands = 'free'
        Options = @(@('--body', 'the raw body as it was received, or - for stdin'), @('--headers', 'the headers, one a line, as curl or a log saved them'), @('--timestamp', 'value of the timestamp header, without --headers'), @('--id', 'value of the id header, without --headers'), @('--signature', 'value of the signature header, without --headers'), @('--at', 'when it arrived: RFC 3339 or Unix seconds (default: now)'), @('--secret-stdin', 'read the webhook secret from stdin, not from VLOC_WEBHOOK_SECRET or the profile'), @('--form', 'separator of the three signed parts; auto tries both and reports which one matched'), @('--header-prefix', 'start of the header names (default: as configured, else X-Service)'), @('--tolerance', 'how old or new a delivery may be (default: 300s)'), @('--output', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('-o', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('--jq', 'filter the JSON with a jq expression'), @('--fields', 'only these fields of each record, separated by commas'), @('--quiet', 'no progress and no notes on stderr'), @('-q', 'no progress and no notes on stderr'), @('--verbose', 'show requests on stderr, without secrets'), @('-v', 'show requests on stderr, without secrets'), @('--color', 'colour of messages and tables'), @('--profile', 'profile to use; `local` is the embedded service'), @('--base-url', 'address of the service, ending in /v1'), @('--help', 'display help for command'), @('-h', 'display help for command'))
    }
    $places['upload'] = @{
        Commands = @(@('list', 'list uploads, the newest first'), @('get', 'show uploads as they are now'), @('create', 'reserve an upload whose bytes another program sends'), @('complete', 'say that the bytes of an upload are there'))
        Operands = 'files'
        Options = @(@('--purpose', 'purpose (default: by the content of the file)'), @('--file-name', 'file name to send to the service; for a single file'), @('--client-reference', 'your own reference, 1 to 128 characters'), @('--no-wait', 'return when the bytes are there, before they are validated'), @('--output', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('-o', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('--jq', 'filter the JSON with a jq expression'), @('--fields', 'only these fields of each record, separated by commas'), @('--quiet', 'no progress and no notes on stderr'), @('-q', 'no progress and no notes on stderr'), @('--verbose', 'show requests on stderr, without secrets'), @('-v', 'show requests on stderr, without secrets'), @('--color', 'colour of messages and tables'), @('--profile', 'profile to use; `local` is the embedded service'), @('--base-url', 'address of the service, ending in /v1'), @('--help', 'display help for command'), @('-h', 'display help for command'))
    }
    $places['upload list'] = @{
        Commands = @()
        Operands = 'free'
        Options = @(@('--limit', 'how many at most, over as many pages as it takes (default: 20)'), @('--cursor', 'continue from a previous next_cursor, with the same filters'), @('--since', 'created at or after: a date, a time with its zone, or an age such as 7d'), @('--until', 'created before: a date, a time with its zone, or an age'), @('--status', 'only uploads in this state'), @('--purpose', 'only uploads for this purpose'), @('--all', 'everything there is, page after page'), @('--output', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('-o', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('--jq', 'filter the JSON with a jq expression'), @('--fields', 'only these fields of each record, separated by commas'), @('--quiet', 'no progress and no notes on stderr'), @('-q', 'no progress and no notes on stderr'), @('--verbose', 'show requests on stderr, without secrets'), @('-v', 'show requests on stderr, without secrets'), @('--color', 'colour of messages and tables'), @('--profile', 'profile to use; `local` is the embedded service'), @('--base-url', 'address of the service, ending in /v1'), @('--help', 'display help for command'), @('-h', 'display help for command'))
    }
    $places['upload get'] = @{
        Commands = @()
        Operands = 'source uploads'
        Options = @(@('--output', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('-o', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('--jq', 'filter the JSON with a jq expression'), @('--fields', 'only these fields of each record, separated by commas'), @('--quiet', 'no progress and no notes on stderr'), @('-q', 'no progress and no notes on stderr'), @('--verbose', 'show requests on stderr, without secrets'), @('-v', 'show requests on stderr, without secrets'), @('--color', 'colour of messages and tables'), @('--profile', 'profile to use; `local` is the embedded service'), @('--base-url', 'address of the service, ending in /v1'), @('--help', 'display help for command'), @('-h', 'display help for command'))
    }
    $places['upload create'] = @{
        Commands = @()
        Operands = 'free'
        Options = @(@('--purpose', 'purpose of the upload'), @('--file-name', 'name of the file, without a folder'), @('--content-type', 'media type, for example video/mp4'), @('--size-bytes', 'how many bytes will come, exactly'), @('--client-reference', 'your own reference, 1 to 128 characters'), @('--output', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('-o', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('--jq', 'filter the JSON with a jq expression'), @('--fields', 'only these fields of each record, separated by commas'), @('--quiet', 'no progress and no notes on stderr'), @('-q', 'no progress and no notes on stderr'), @('--verbose', 'show requests on stderr, without secrets'), @('-v', 'show requests on stderr, without secrets'), @('--color', 'colour of messages and tables'), @('--profile', 'profile to use; `local` is the embedded service'), @('--base-url', 'address of the service, ending in /v1'), @('--help', 'display help for command'), @('-h', 'display help for command'))
    }
    $places['upload complete'] = @{
        Commands = @()
        Operands = 'source uploads'
        Options = @(@('--etag', 'the ETag that storage answered the PUT with'), @('--output', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('-o', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('--jq', 'filter the JSON with a jq expression'), @('--fields', 'only these fields of each record, separated by commas'), @('--quiet', 'no progress and no notes on stderr'), @('-q', 'no progress and no notes on stderr'), @('--verbose', 'show requests on stderr, without secrets'), @('-v', 'show requests on stderr, without secrets'), @('--color', 'colour of messages and tables'), @('--profile', 'profile to use; `local` is the embedded service'), @('--base-url', 'address of the service, ending in /v1'), @('--help', 'display help for command'), @('-h', 'display help for command'))
    }
    $places['credits'] = @{
        Commands = @(,@('history', 'list charges, newest first'))
        Operands = 'free'
        Options = @(@('--output', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('-o', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('--jq', 'filter the JSON with a jq expression'), @('--fields', 'only these fields of each record, separated by commas'), @('--quiet', 'no progress and no notes on stderr'), @('-q', 'no progress and no notes on stderr'), @('--verbose', 'show requests on stderr, without secrets'), @('-v', 'show requests on stderr, without secrets'), @('--color', 'colour of messages and tables'), @('--profile', 'profile to use; `local` is the embedded service'), @('--base-url', 'address of the service, ending in /v1'), @('--help', 'display help for command'), @('-h', 'display help for command'))
    }
    $places['credits history'] = @{
        Commands = @()
        Operands = 'free'
        Options = @(@('--limit', 'how many at most, over as many pages as it takes (default: 20)'), @('--cursor', 'continue from a previous next_cursor, with the same filters'), @('--since', 'created at or after: a date, a time with its zone, or an age such as 7d'), @('--until', 'created before: a date, a time with its zone, or an age'), @('--all', 'everything there is, page after page'), @('--output', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('-o', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('--jq', 'filter the JSON with a jq expression'), @('--fields', 'only these fields of each record, separated by commas'), @('--quiet', 'no progress and no notes on stderr'), @('-q', 'no progress and no notes on stderr'), @('--verbose', 'show requests on stderr, without secrets'), @('-v', 'show requests on stderr, without secrets'), @('--color', 'colour of messages and tables'), @('--profile', 'profile to use; `local` is the embedded service'), @('--base-url', 'address of the service, ending in /v1'), @('--help', 'display help for command'), @('-h', 'display help for command'))
    }
    $places['api'] = @{
        Commands = @()
        Operands = 'free'
        Options = @(@('--data', 'the body: JSON, @file, or - for stdin'), @('-d', 'the body: JSON, @file, or - for stdin'), @('--header', 'a further header; may be repeated'), @('-H', 'a further header; may be repeated'), @('--idempotency-key', 'Idempotency-Key of a POST or DELETE (default: a new one, printed on stderr)'), @('--paginate', 'follow the cursors of a list and print all of its entries'), @('--include', 'print status and headers too: {status, headers, body}'), @('--output', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('-o', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('--jq', 'filter the JSON with a jq expression'), @('--fields', 'only these fields of each record, separated by commas'), @('--quiet', 'no progress and no notes on stderr'), @('-q', 'no progress and no notes on stderr'), @('--verbose', 'show requests on stderr, without secrets'), @('-v', 'show requests on stderr, without secrets'), @('--color', 'colour of messages and tables'), @('--profile', 'profile to use; `local` is the embedded service'), @('--base-url', 'address of the service, ending in /v1'), @('--help', 'display help for command'), @('-h', 'display help for command'))
    }
    $places['doctor'] = @{
        Commands = @()
        Operands = 'free'
        Options = @(@('--clear-locks', 'remove locks and slots whose holder is dead, before the checks'), @('--output', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('-o', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('--jq', 'filter the JSON with a jq expression'), @('--fields', 'only these fields of each record, separated by commas'), @('--quiet', 'no progress and no notes on stderr'), @('-q', 'no progress and no notes on stderr'), @('--verbose', 'show requests on stderr, without secrets'), @('-v', 'show requests on stderr, without secrets'), @('--color', 'colour of messages and tables'), @('--profile', 'profile to use; `local` is the embedded service'), @('--base-url', 'address of the service, ending in /v1'), @('--help', 'display help for command'), @('-h', 'display help for command'))
    }
    $places['profile'] = @{
        Commands = @(@('add', 'store a service and its key, after a check that they work'), @('list', 'list the profiles and say which one is in use'), @('use', 'choose the profile of runs that name none'), @('show', 'show every setting and where it comes from'), @('remove', 'remove a profile and its secrets'))
        Operands = 'free'
        Options = @(@('--help', 'display help for command'), @('-h', 'display help for command'))
    }
    $places['profile add'] = @{
        Commands = @()
        Operands = 'source profiles'
        Options = @(@('--key', 'public identifier of the API key'), @('--secret-stdin', 'read the secret from stdin, one line'), @('--secret-command', 'store this command; it prints the secret at each run'), @('--header-prefix', 'the service''s header prefix (default: X-Service)'), @('--webhook-secret-stdin', 'read the secret of webhooks from stdin, from the line after the --secret-stdin one'), @('--webhook-secret-command', 'a command that prints the secret of webhooks'), @('--store', 'where the secret goes (default: the keychain of the system, else the file)'), @('--replace', 'replace a profile of that name'), @('--no-check', 'store without asking the service whether the key works'), @('--output', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('-o', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('--jq', 'filter the JSON with a jq expression'), @('--fields', 'only these fields of each record, separated by commas'), @('--quiet', 'no progress and no notes on stderr'), @('-q', 'no progress and no notes on stderr'), @('--verbose', 'show requests on stderr, without secrets'), @('-v', 'show requests on stderr, without secrets'), @('--color', 'colour of messages and tables'), @('--profile', 'profile to use; `local` is the embedded service'), @('--base-url', 'address of the service, ending in /v1'), @('--help', 'display help for command'), @('-h', 'display help for command'))
    }
    $places['profile list'] = @{
        Commands = @()
        Operands = 'free'
        Options = @(@('--output', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('-o', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('--jq', 'filter the JSON with a jq expression'), @('--fields', 'only these fields of each record, separated by commas'), @('--quiet', 'no progress and no notes on stderr'), @('-q', 'no progress and no notes on stderr'), @('--verbose', 'show requests on stderr, without secrets'), @('-v', 'show requests on stderr, without secrets'), @('--color', 'colour of messages and tables'), @('--profile', 'profile to use; `local` is the embedded service'), @('--base-url', 'address of the service, ending in /v1'), @('--help', 'display help for command'), @('-h', 'display help for command'))
    }
    $places['profile use'] = @{
        Commands = @()
        Operands = 'source profiles'
        Options = @(@('--output', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('-o', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('--jq', 'filter the JSON with a jq expression'), @('--fields', 'only these fields of each record, separated by commas'), @('--quiet', 'no progress and no notes on stderr'), @('-q', 'no progress and no notes on stderr'), @('--verbose', 'show requests on stderr, without secrets'), @('-v', 'show requests on stderr, without secrets'), @('--color', 'colour of messages and tables'), @('--profile', 'profile to use; `local` is the embedded service'), @('--base-url', 'address of the service, ending in /v1'), @('--help', 'display help for command'), @('-h', 'display help for command'))
    }
    $places['profile show'] = @{
        Commands = @()
        Operands = 'source profiles'
        Options = @(@('--output', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('-o', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('--jq', 'filter the JSON with a jq expression'), @('--fields', 'only these fields of each record, separated by commas'), @('--quiet', 'no progress and no notes on stderr'), @('-q', 'no progress and no notes on stderr'), @('--verbose', 'show requests on stderr, without secrets'), @('-v', 'show requests on stderr, without secrets'), @('--color', 'colour of messages and tables'), @('--profile', 'profile to use; `local` is the embedded service'), @('--base-url', 'address of the service, ending in /v1'), @('--help', 'display help for command'), @('-h', 'display help for command'))
    }
    $places['profile remove'] = @{
        Commands = @()
        Operands = 'source profiles'
        Options = @(@('--output', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('-o', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('--jq', 'filter the JSON with a jq expression'), @('--fields', 'only these fields of each record, separated by commas'), @('--quiet', 'no progress and no notes on stderr'), @('-q', 'no progress and no notes on stderr'), @('--verbose', 'show requests on stderr, without secrets'), @('-v', 'show requests on stderr, without secrets'), @('--color', 'colour of messages and tables'), @('--profile', 'profile to use; `local` is the embedded service'), @('--base-url', 'address of the service, ending in /v1'), @('--help', 'display help for command'), @('-h', 'display help for command'))
    }
    $places['engines'] = @{
        Commands = @(@('list', 'show installed engines and their languages'), @('install', 'install the engines that are missing'))
        Operands = 'free'
        Options = @(@('--help', 'display help for command'), @('-h', 'display help for command'))
    }
    $places['engines list'] = @{
        Commands = @()
        Operands = 'free'
        Options = @(@('--output', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('-o', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('--jq', 'filter the JSON with a jq expression'), @('--fields', 'only these fields of each record, separated by commas'), @('--quiet', 'no progress and no notes on stderr'), @('-q', 'no progress and no notes on stderr'), @('--verbose', 'show requests on stderr, without secrets'), @('-v', 'show requests on stderr, without secrets'), @('--color', 'colour of messages and tables'), @('--profile', 'profile to use; `local` is the embedded service'), @('--base-url', 'address of the service, ending in /v1'), @('--help', 'display help for command'), @('-h', 'display help for command'))
    }
    $places['engines install'] = @{
        Commands = @()
        Operands = 'free'
        Options = @(@('--yes', 'do not ask before installing'), @('-y', 'do not ask before installing'), @('--output', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('-o', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('--jq', 'filter the JSON with a jq expression'), @('--fields', 'only these fields of each record, separated by commas'), @('--quiet', 'no progress and no notes on stderr'), @('-q', 'no progress and no notes on stderr'), @('--verbose', 'show requests on stderr, without secrets'), @('-v', 'show requests on stderr, without secrets'), @('--color', 'colour of messages and tables'), @('--profile', 'profile to use; `local` is the embedded service'), @('--base-url', 'address of the service, ending in /v1'), @('--help', 'display help for command'), @('-h', 'display help for command'))
    }
    $places['serve'] = @{
        Commands = @(,@('keys', 'make, list and revoke the API keys of a service'))
        Operands = 'free'
        Options = @(@('--host', 'address to listen on (default: 127.0.0.1)'), @('--port', 'port to listen on (default: one that is free)'), @('--state-dir', 'folder of the service (default: VLOC_STATE_DIR or the XDG state folder)'), @('--config', 'JSON file of settings; options win over it'), @('--public-origin', 'scheme and host that callers see, behind a proxy'), @('--trusted-proxy', 'addresses and networks of proxies whose X-Forwarded-For is believed (default: none)'), @('--allow-loopback', 'let source and callback addresses lead to this machine, over http too'), @('--log', 'form of the log on stderr (default: text on a terminal, else json)'), @('--output', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('-o', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('--jq', 'filter the JSON with a jq expression'), @('--fields', 'only these fields of each record, separated by commas'), @('--quiet', 'no progress and no notes on stderr'), @('-q', 'no progress and no notes on stderr'), @('--verbose', 'show requests on stderr, without secrets'), @('-v', 'show requests on stderr, without secrets'), @('--color', 'colour of messages and tables'), @('--profile', 'profile to use; `local` is the embedded service'), @('--base-url', 'address of the service, ending in /v1'), @('--help', 'display help for command'), @('-h', 'display help for command'))
    }
    $places['serve keys'] = @{
        Commands = @(@('create', 'make a key and show its secrets, once'), @('list', 'list keys and their permissions'), @('revoke', 'end the use of a key'))
        Operands = 'free'
        Options = @(@('--help', 'display help for command'), @('-h', 'display help for command'))
    }
    $places['serve keys create'] = @{
        Commands = @()
        Operands = 'free'
        Options = @(@('--permission', 'capabilities the key may use, of audio_separation, subtitle_recognition, subtitle_translation, dubbing, auto_localization (default: all)'), @('--monthly-quota', 'credits per calendar month, in Asia/Shanghai (default: no limit)'), @('--allow', 'addresses and networks that may use the key (default: any)'), @('--state-dir', 'folder of the service (default: VLOC_STATE_DIR or the XDG state folder)'), @('--output', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('-o', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('--jq', 'filter the JSON with a jq expression'), @('--fields', 'only these fields of each record, separated by commas'), @('--quiet', 'no progress and no notes on stderr'), @('-q', 'no progress and no notes on stderr'), @('--verbose', 'show requests on stderr, without secrets'), @('-v', 'show requests on stderr, without secrets'), @('--color', 'colour of messages and tables'), @('--profile', 'profile to use; `local` is the embedded service'), @('--base-url', 'address of the service, ending in /v1'), @('--help', 'display help for command'), @('-h', 'display help for command'))
    }
    $places['serve keys list'] = @{
        Commands = @()
        Operands = 'free'
        Options = @(@('--state-dir', 'folder of the service (default: VLOC_STATE_DIR or the XDG state folder)'), @('--output', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('-o', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('--jq', 'filter the JSON with a jq expression'), @('--fields', 'only these fields of each record, separated by commas'), @('--quiet', 'no progress and no notes on stderr'), @('-q', 'no progress and no notes on stderr'), @('--verbose', 'show requests on stderr, without secrets'), @('-v', 'show requests on stderr, without secrets'), @('--color', 'colour of messages and tables'), @('--profile', 'profile to use; `local` is the embedded service'), @('--base-url', 'address of the service, ending in /v1'), @('--help', 'display help for command'), @('-h', 'display help for command'))
    }
    $places['serve keys revoke'] = @{
        Commands = @()
        Operands = 'free'
        Options = @(@('--state-dir', 'folder of the service (default: VLOC_STATE_DIR or the XDG state folder)'), @('--output', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('-o', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('--jq', 'filter the JSON with a jq expression'), @('--fields', 'only these fields of each record, separated by commas'), @('--quiet', 'no progress and no notes on stderr'), @('-q', 'no progress and no notes on stderr'), @('--verbose', 'show requests on stderr, without secrets'), @('-v', 'show requests on stderr, without secrets'), @('--color', 'colour of messages and tables'), @('--profile', 'profile to use; `local` is the embedded service'), @('--base-url', 'address of the service, ending in /v1'), @('--help', 'display help for command'), @('-h', 'display help for command'))
    }
    $places['schema'] = @{
        Commands = @()
        Operands = 'free'
        Options = @(@('--output', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('-o', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('--jq', 'filter the JSON with a jq expression'), @('--fields', 'only these fields of each record, separated by commas'), @('--quiet', 'no progress and no notes on stderr'), @('-q', 'no progress and no notes on stderr'), @('--verbose', 'show requests on stderr, without secrets'), @('-v', 'show requests on stderr, without secrets'), @('--color', 'colour of messages and tables'), @('--profile', 'profile to use; `local` is the embedded service'), @('--base-url', 'address of the service, ending in /v1'), @('--help', 'display help for command'), @('-h', 'display help for command'))
    }
    $places['completion'] = @{
        Commands = @()
        Operands = 'choices bash zsh fish powershell'
        Options = @(@('--output', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('-o', 'form of the data on stdout (default: table; json with --jq or --fields)'), @('--jq', 'filter the JSON with a jq expression'), @('--fields', 'only these fields of each record, separated by commas'), @('--quiet', 'no progress and no notes on stderr'), @('-q', 'no progress and no notes on stderr'), @('--verbose', 'show requests on stderr, without secrets'), @('-v', 'show requests on stderr, without secrets'), @('--color', 'colour of messages and tables'), @('--profile', 'profile to use; `local` is the embedded service'), @('--base-url', 'address of the service, ending in /v1'), @('--help', 'display help for command'), @('-h', 'display help for command'))
    }
    $places['help'] = @{
        Commands = @(@('localize', 'bring whole videos into other languages'), @('separate', 'split the sound of videos into voice and background'), @('recognize', 'transcribe videos into subtitles'), @('translate', 'translate subtitles into other languages'), @('dub', 'speak subtitles as sound tracks that keep their times'), @('jobs', 'look at jobs, wait for them, fetch their results'), @('batch', 'show, retry and report on a folder of results'), @('webhooks', 'receive and verify job-completion webhooks'), @('upload', 'upload files that jobs can use as their input'), @('credits', 'show the credits that are left'), @('api', 'make any signed call'), @('doctor', 'check this machine, the connection and the credentials'), @('profile', 'keep services and their keys under names'), @('engines', 'see and install the media engines of the embedded service'), @('serve', 'run the embedded service for other programs'), @('schema', 'print the OpenAPI document of the interface'), @('completion', 'print the script that completes commands in a shell'), @('exit-codes', 'exit codes, for scripts'), @('environment', 'environment variables that vloc reads'))
        Operands = 'free'
        Options = @(@('--help', 'display help for command'), @('-h', 'display help for command'))
    }
    $places['help jobs'] = @{
        Commands = @(@('list', 'list jobs of all kinds, the newest first'), @('get', 'show jobs as they are now'), @('wait', 'wait for jobs and download their results'), @('download', 'download the results of finished jobs'), @('cancel', 'cancel jobs that have not ended'))
        Operands = 'free'
        Options = @()
    }
    $places['help batch'] = @{
        Commands = @(@('status', 'show the state of the items of a folder, without asking the service'), @('retry', 'run only failed items again'), @('report', 'write a report on a folder: a page to look at, Markdown, JSON or JUnit XML'))
        Operands = 'free'
        Options = @()
    }
    $places['help webhooks'] = @{
        Commands = @(@('listen', 'receive webhooks, verify them, forward them, run a command for each'), @('verify', 'say whether a webhook that was saved is genuine, and if not, why'))
        Operands = 'free'
        Options = @()
    }
    $places['help upload'] = @{
        Commands = @(@('list', 'list uploads, the newest first'), @('get', 'show uploads as they are now'), @('create', 'reserve an upload whose bytes another program sends'), @('complete', 'say that the bytes of an upload are there'))
        Operands = 'free'
        Options = @()
    }
    $places['help credits'] = @{
        Commands = @(,@('history', 'list charges, newest first'))
        Operands = 'free'
        Options = @()
    }
    $places['help profile'] = @{
        Commands = @(@('add', 'store a service and its key, after a check that they work'), @('list', 'list the profiles and say which one is in use'), @('use', 'choose the profile of runs that name none'), @('show', 'show every setting and where it comes from'), @('remove', 'remove a profile and its secrets'))
        Operands = 'free'
        Options = @()
    }
    $places['help engines'] = @{
        Commands = @(@('list', 'show installed engines and their languages'), @('install', 'install the engines that are missing'))
        Operands = 'free'
        Options = @()
    }
    $places['help serve'] = @{
        Commands = @(,@('keys', 'make, list and revoke the API keys of a service'))
        Operands = 'free'
        Options = @()
    }
    $places['help serve keys'] = @{
        Commands = @(@('create', 'make a key and show its secrets, once'), @('list', 'list keys and their permissions'), @('revoke', 'end the use of a key'))
        Operands = 'free'
        Options = @()
    }

    # What an option takes at a place, * for any place.
    $values = [hashtable]::new([StringComparer]::Ordinal)
    $values['localize --from'] = 'source translation-sources'
    $values['translate --from'] = 'source translation-sources'
    $values['recognize --from'] = 'source recognized'
    $values['localize --to'] = ',source translation-targets'
    $values['translate --to'] = ',source translation-targets'
    $values['dub --to'] = ',source voices'
    $values['* --mode'] = 'choices standard subtitles_only'
    $values['* --voice-mode'] = 'choices auto female male'
    $values['* --subtitle-output'] = 'choices none soft burned'
    $values['* --original-audio'] = 'choices background duck mute'
    $values['* --resolution'] = 'choices source 1080p 720p 480p'
    $values['* --client-reference'] = 'free'
    $values['* --callback-url'] = 'free'
    $values['localize --include'] = 'free'
    $values['separate --include'] = 'free'
    $values['recognize --include'] = 'free'
    $values['translate --include'] = 'free'
    $values['dub --include'] = 'free'
    $values['* --exclude'] = 'free'
    $values['* --files-from'] = 'files'
    $values['* --files-from0'] = 'files'
    $values['* --sheet'] = 'files'
    $values['* --order'] = 'choices given size name'
    $values['* --audio-track'] = 'free'
    $values['* --set'] = 'free'
    $values['localize --body'] = 'at-file'
    $values['separate --body'] = 'at-file'
    $values['recognize --body'] = 'at-file'
    $values['translate --body'] = 'at-file'
    $values['dub --body'] = 'at-file'
    $values['webhooks verify --body'] = 'files'
    $values['* --jobs'] = 'free'
    $values['* --max-credits'] = 'free'
    $values['* --max-duration'] = 'free'
    $values['localize --out'] = 'folders'
    $values['separate --out'] = 'folders'
    $values['recognize --out'] = 'folders'
    $values['translate --out'] = 'folders'
    $values['dub --out'] = 'folders'
    $values['jobs wait --out'] = 'folders'
    $values['jobs download --out'] = 'folders'
    $values['batch report --out'] = 'files'
    $values['* --name'] = 'free'
    $values['* --timeout'] = 'free'
    $values['* --stop-after'] = 'choices recognize translate'
    $values['* --subtitle'] = 'files'
    $values['* --source-subtitle'] = 'files'
    $values['* --subtitle-format'] = 'choices srt vtt ass'
    $values['* --output'] = 'choices table json ndjson plain id'
    $values['* -o'] = 'choices table json ndjson plain id'
    $values['* --jq'] = 'free'
    $values['localize --fields'] = ',choices input id kind status target_language client_reference charged_credits expires_at files error'
    $values['separate --fields'] = ',choices input id kind status target_language client_reference charged_credits expires_at files error'
    $values['recognize --fields'] = ',choices input id kind status target_language client_reference charged_credits expires_at files error'
    $values['translate --fields'] = ',choices input id kind status target_language client_reference charged_credits expires_at files error'
    $values['dub --fields'] = ',choices input id kind status target_language client_reference charged_credits expires_at files error'
    $values['jobs wait --fields'] = ',choices input id kind status target_language client_reference charged_credits expires_at files error'
    $values['jobs download --fields'] = ',choices input id kind status target_language client_reference charged_credits expires_at files error'
    $values['jobs cancel --fields'] = ',choices input id kind status target_language client_reference charged_credits expires_at files error'
    $values['jobs list --fields'] = ',choices id object status progress client_reference created_at updated_at detail_url input'
    $values['jobs get --fields'] = ',choices id object status progress client_reference created_at updated_at detail_url stage input error result billing expires_at started_at finished_at'
    $values['batch status --fields'] = ',choices label state kind target_language job_id error files credits attempts asked_at created_at finished_at downloaded_at deadline key'
    $values['batch retry --fields'] = ',choices label state kind target_language job_id error files credits attempts asked_at created_at finished_at downloaded_at deadline key'
    $values['batch report --fields'] = ',free'
    $values['webhooks listen --fields'] = ',free'
    $values['webhooks verify --fields'] = ',free'
    $values['api --fields'] = ',free'
    $values['doctor --fields'] = ',free'
    $values['engines list --fields'] = ',free'
    $values['engines install --fields'] = ',free'
    $values['serve --fields'] = ',free'
    $values['serve keys create --fields'] = ',free'
    $values['serve keys list --fields'] = ',free'
    $values['serve keys revoke --fields'] = ',free'
    $values['schema --fields'] = ',free'
    $values['completion --fields'] = ',free'
    $values['upload --fields'] = ',choices id object status purpose file_name content_type size_bytes upload_request media subtitle error client_reference created_at updated_at expires_at detail_url'
    $values['upload list --fields'] = ',choices id object status purpose file_name content_type size_bytes upload_request media subtitle error client_reference created_at updated_at expires_at detail_url'
    $values['upload get --fields'] = ',choices id object status purpose file_name content_type size_bytes upload_request media subtitle error client_reference created_at updated_at expires_at detail_url'
    $values['upload create --fields'] = ',choices id object status purpose file_name content_type size_bytes upload_request media subtitle error client_reference created_at updated_at expires_at detail_url'
    $values['upload complete --fields'] = ',choices id object status purpose file_name content_type size_bytes upload_request media subtitle error client_reference created_at updated_at expires_at detail_url'
    $values['credits --fields'] = ',choices object balance_credits reserved_credits available_credits monthly_usage'
    $values['credits history --fields'] = ',choices id object amount capability job_id client_reference unit quantity posted_at'
    $values['profile add --fields'] = ',choices name in_use base_url key header_prefix secret_in webhook_secret_in'
    $values['profile list --fields'] = ',choices name in_use base_url key header_prefix secret_in webhook_secret_in'
    $values['profile use --fields'] = ',choices name in_use base_url key header_prefix secret_in webhook_secret_in'
    $values['profile remove --fields'] = ',choices name in_use base_url key header_prefix secret_in webhook_secret_in'
    $values['profile show --fields'] = ',choices setting value origin'
    $values['* --color'] = 'choices auto always never'
    $values['* --profile'] = 'source profiles'
    $values['* --base-url'] = 'free'
    $values['* --kind'] = ',choices separate recognize translate dub localize audio_separation subtitle_recognition subtitle_translation dubbing auto_localization'
    $values['* --limit'] = 'free'
    $values['* --cursor'] = 'free'
    $values['* --since'] = 'free'
    $values['jobs list --until'] = 'free'
    $values['upload list --until'] = 'free'
    $values['credits history --until'] = 'free'
    $values['webhooks listen --until'] = 'source jobs'
    $values['jobs list --status'] = 'choices queued processing succeeded failed cancelled'
    $values['upload list --status'] = 'choices waiting_for_upload validating ready failed expired'
    $values['* --format'] = 'choices markdown json junit'
    $values['* --host'] = 'free'
    $values['* --port'] = 'free'
    $values['* --path'] = 'free'
    $values['* --forward-to'] = 'free'
    $values['* --exec'] = 'free'
    $values['* --form'] = 'choices auto newline dot'
    $values['* --header-prefix'] = 'free'
    $values['* --tolerance'] = 'free'
    $values['* --headers'] = 'files'
    $values['* --timestamp'] = 'free'
    $values['* --id'] = 'free'
    $values['* --signature'] = 'free'
    $values['* --at'] = 'free'
    $values['* --purpose'] = 'choices source_video subtitle_file'
    $values['* --file-name'] = 'free'
    $values['* --content-type'] = 'free'
    $values['* --size-bytes'] = 'free'
    $values['* --etag'] = 'free'
    $values['* --data'] = 'at-file'
    $values['* -d'] = 'at-file'
    $values['* --header'] = 'free'
    $values['* -H'] = 'free'
    $values['* --idempotency-key'] = 'free'
    $values['* --key'] = 'free'
    $values['* --secret-command'] = 'free'
    $values['* --webhook-secret-command'] = 'free'
    $values['* --store'] = 'choices file keychain'
    $values['* --state-dir'] = 'folders'
    $values['* --config'] = 'files'
    $values['* --public-origin'] = 'free'
    $values['* --trusted-proxy'] = ',free'
    $values['* --log'] = 'choices json text'
    $values['* --permission'] = ',choices separate recognize translate dub localize audio_separation subtitle_recognition subtitle_translation dubbing auto_localization'
    $values['* --monthly-quota'] = 'free'
    $values['* --allow'] = ',free'

    function Find-Value($place, $flag) {
        if ($values.ContainsKey("$place $flag")) { return $values["$place $flag"] }
        return $values["* $flag"]
    }

    function New-Result($text, $explains, $type) {
        $tip = if ($explains) { $explains } else { $text }
        [System.Management.Automation.CompletionResult]::new($text, $text, $type, $tip)
    }

    # Values of a form for the typed text; $before stands before each. Files are left to PowerShell.
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
            $word, $explains = $line.Split("`t", 2)
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
            # Commands without a table of their own, as behind help, have nothing below them.
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
}
