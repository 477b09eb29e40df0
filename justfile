# The same commands as in package.json, for those who type `just`.

# What is there
default:
    @just --list

# Packages, addon, sandbox binary, dist; only what is stale
setup:
    npm run setup

# Everything that CI runs
test:
    npm test

# Before a commit: format, then everything that CI runs
ready:
    npm run ready

# The recorded assistant on real input
demo:
    npm run demo

# The measurements
bench *args:
    npm run bench -- {{args}}

# The rooms without Node: fast while working on them
rooms *filter:
    cargo test --no-default-features --features docker,engine --lib {{filter}}
