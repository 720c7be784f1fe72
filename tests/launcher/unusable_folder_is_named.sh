#!/usr/bin/env bash
# A build folder that cannot be written to is named in one line, with what was found, what was expected and what helps.
source "$(dirname "${BASH_SOURCE[0]}")/project.bash"
build=$project/build

refused() {  # TEXT…: by one line that holds them, and nothing was made
  expect_status "$1" 3
  for text in "${@:2}"; do expect_line "$text"; done
  expect_out ''
}
touch "$build"
launch --no-cuda list
refused $? "tally: $build: found a regular empty file; expected a folder that " 'remove it, or make it a link to a folder of yours'
rm "$build" && ln -s "$project/nowhere" "$build"
launch --no-cuda list
refused $? "$build: found a link to $project/nowhere, where nothing is" 'make that folder, or remove the link'
rm "$build" && mkdir "$build" && touch "$build/no-cuda"
launch --no-cuda list
refused $? "$build/no-cuda: found a regular empty file; expected a folder"
rm "$build/no-cuda" && mkdir "$build/setup.log"
launch --no-cuda list
refused $? "$build/setup.log: found a directory of " 'expected a file that '
rmdir "$build/setup.log"
for file in .no-cuda.lock times .nvcc probe.cu no-cuda/{CMakeCache.txt,build.ninja,.ninja_log,.ninja_deps}; do
  mkdir -p "$build/$file"
  launch --no-cuda list
  refused $? "$build/$file: found a directory of "
  rmdir "$build/$file"
done
rmdir "$build/no-cuda"

# Another's: as somebody who may not write there, where this test may become one.
another=(setpriv --reuid 65534 --regid 65534 --clear-groups)
chmod -R go=u,go-w "$project"  # a copy keeps the modes of the checkout
"${another[@]}" "$project/tally" --help >/dev/null 2>&1 || { echo "not run as another user: root alone becomes one, where its files can be read"; exit 0; }
launch_as_nobody() {
  HOME=/tmp PATH=$bin "${another[@]}" "$project/tally" --no-cuda list >"$project/out" 2>"$project/err" </dev/null
}
launch_as_nobody
refused $? "$build: found a folder of root, mode 755; expected a folder that nobody can write to" 'chown or chmod it'
rmdir "$build"
launch_as_nobody
refused $? "$build: found nothing, in a folder of root, mode 755; expected a folder that nobody can write to"
mkdir -m 777 "$build" && mkdir "$build/no-cuda"
launch_as_nobody
refused $? "$build/no-cuda: found a folder of root, mode 755"
chmod 777 "$build/no-cuda" && touch "$build/.no-cuda.lock"
launch_as_nobody
refused $? "$build/.no-cuda.lock: found a regular empty file of root, mode 644; expected a file that nobody can write to"
rm "$build/.no-cuda.lock" && chown nobody "$build" && chmod 555 "$build"
launch_as_nobody
refused $? "$build: found a folder of nobody, mode 555"
