#!/bin/sh
# Plays a reviewer: notes how it was started, then says what the test has put into $FAKE_CLAUDE.
cd "$FAKE_CLAUDE" || exit 9
echo run >>runs
printf '%s\0' "$@" >arguments
env >environment
cat >prompt
echo "$OLDPWD" >folder
if [ -f note_pid ]; then
  echo $$ >pid
  echo $PPID >parent
fi
# What it was given to read, before that is taken away.
if [ -f keep_settings ]; then
  previous=
  for argument in "$@"; do
    if [ "$previous" = --settings ]; then
      cp "$argument" settings
      stat -c %a "$argument" >settings_mode
    fi
    previous=$argument
  done
fi
# A reviewer whose client runs hooks all the same.
[ -f hook ] && "$(cat hook)" ccc supervisor-hook </dev/null >inner
[ -f lines.jsonl ] && cat lines.jsonl
[ -f stderr ] && cat stderr >&2
[ -f hang ] && exec sleep 86400
[ -f code ] && exit "$(cat code)"
exit 0
