use super::*;

#[track_caller]
fn assert_kind(kind: CommandKind, commands: &[&str]) {
    for command in commands {
        assert_eq!(classify(command), kind, "{command}");
    }
}

#[test]
fn commands_that_run_tests() {
    let commands = [
        "cargo test",
        "cargo +nightly test --workspace",
        "cargo nextest run -p core",
        "cargo llvm-cov nextest",
        "make test",
        "make -C server -j4 test-unit",
        "make check",
        "just test",
        "npm test",
        "npm t -- --watch=false",
        "npm run test:unit",
        "npm --prefix web test",
        "npm -w web run test",
        "yarn test",
        "yarn workspace web test",
        "pnpm -r test",
        "pnpm --filter web vitest",
        "pnpm exec vitest run",
        "bun test",
        "npx jest",
        "npx --yes vitest run",
        "npx playwright test",
        "npx cypress run",
        "npx nx run-many -t test",
        "pytest -q",
        "python -m pytest tests",
        "python3.12 -m unittest discover",
        "uv run pytest",
        "uv run --with pytest python -m pytest",
        "poetry run pytest",
        "coverage run -m pytest",
        "python manage.py test",
        "tox -e py311",
        "nox",
        "go test ./...",
        "mvn -B test",
        "./mvnw verify",
        "gradle check",
        "./gradlew :app:testDebugUnitTest",
        "dotnet test --no-build",
        "rspec",
        "bundle exec rspec spec/models",
        "rake test",
        "bundle exec rake spec",
        "bin/rails test",
        "vendor/bin/phpunit --testdox",
        "php artisan test",
        "composer test",
        "mix test",
        "ctest --output-on-failure",
        "bats tests",
        "node --test",
        "deno test",
        "./run-tests.sh",
        "bash scripts/run_tests.sh",
        "python tests/test_login.py",
        "build/parser_test",
        "cd server && cargo test 2>&1 | tail -20",
        "cd web; CI=1 npm test",
        "env RUST_LOG=debug cargo test",
        "time cargo test",
        "timeout 60 cargo test",
        "timeout -k 5 60s npm test",
        "sudo -u app env A=1 nice -n 10 pytest",
        "bash -c 'cd web && npm test'",
        "bash -lc \"pytest\"",
        "(cd web && npm test)",
        "if true; then npm test; fi",
        "for d in a b; do (cd $d && go test ./...); done",
        "source .venv/bin/activate && pytest",
        "cargo build && cargo test",
        "echo $(pytest -q)",
        "eval 'go test ./...'",
        "find . -name go.mod -execdir go test ./... \\;",
    ];
    assert_kind(CommandKind::Test, &commands);
    for command in commands {
        assert!(names_test(command), "{command}");
    }
}

#[test]
fn commands_that_only_read() {
    assert_kind(
        CommandKind::ReadOnly,
        &[
            "",
            "# only a comment",
            "ls -la src",
            "cat a | head -5",
            "grep -rn 'cargo test' .",
            "rg \"rm -rf\" src && wc -l src/*.rs",
            "find . -name '*.rs' -not -path './target/*'",
            "find . -name '*.rs' -exec grep -l foo {} +",
            "find . -type f | xargs grep -n TODO",
            "git status --short",
            "git -C web log --oneline -5",
            "git --no-pager diff HEAD~1 -- src",
            "git show HEAD:a.rs | sed -n '1,5p'",
            "git branch --show-current",
            "git branch -a",
            "git stash list",
            "git config --get user.name",
            "echo 'a > b' && echo \"c; rm d\"",
            "sed -n '10,20p' a.rs",
            "sed 's/how we/x/' a",
            "awk '{ print $1 }' a",
            "jq .name package.json",
            "diff a b 2>/dev/null",
            "which node || true",
            "command -v cargo >/dev/null 2>&1",
            "env",
            "env | sort",
            "cd src && pwd",
            "[[ -f a && b > c ]] && echo yes",
            "test -f a",
            "node --version",
            "overtone status",
            "cat <<'EOF'\nrm a > b\nEOF",
            "for f in *.rs; do wc -l \"$f\"; done",
            "echo \"$(git rev-parse HEAD)\"",
            "tar tzf a.tar.gz",
        ],
    );
}

#[test]
fn commands_that_write() {
    assert_kind(
        CommandKind::Writing,
        &[
            "echo x > a",
            "echo x >> a",
            "cargo test > log.txt",
            "cargo test 2>&1 | tee log.txt",
            "cat <<EOF > a\nx\nEOF",
            "cat > a <<'EOF'\nx\nEOF",
            "sed -i 's/a/b/' c",
            "sed -i.bak -e 's/a/b/' c",
            "sed -ni 's/a/b/p' c",
            "perl -pi -e 's/a/b/' c",
            "awk '{ print > \"out\" }' a",
            "rm -rf target",
            "sudo rm a",
            "mv a b",
            "cp a b && cargo test",
            "mkdir -p a/b",
            "find . -name '*.orig' -delete",
            "find . -name x -exec rm {} \\;",
            "ls | xargs -n 1 rm",
            "git checkout -- a",
            "git -C web reset --hard",
            "git add -A && git commit -m 'x'",
            "git stash",
            "git diff --output=a",
            "npm install",
            "npm ci",
            "yarn",
            "pnpm add left",
            "cargo fmt",
            "cargo add serde",
            "cargo clippy --fix",
            "npx prettier --write .",
            "eslint --fix src",
            "black .",
            "bash -c 'echo x > a'",
            "bash <<EOF\nrm a\nEOF",
            "(ls; rm a)",
            "echo $(rm a)",
            "echo `rm a`",
            "true && { rm a; }",
            "sort -o a a",
            "cargo test; > a",
        ],
    );
}

#[test]
fn other_commands() {
    assert_kind(
        CommandKind::Other,
        &[
            "cargo build",
            "cargo check && ls",
            "cargo fmt --check",
            "cargo test --no-run",
            "pytest --collect-only",
            "mvn package -DskipTests",
            "mvn verify -DskipTests",
            "gradle build -x test",
            "make",
            "make build-tests",
            "make -n test",
            "npm run build",
            "npm run lint",
            "npx playwright install",
            "python -c 'print(1)'",
            "python - <<'EOF'\nopen('a', 'w')\nEOF",
            "node server.js",
            "node latest.js",
            "git push",
            "git fetch",
            "curl http://127.0.0.1",
            "awk '$1 > 5' a",
            "sed 'w out' a",
            "sed -n '/x/w out' a",
            "$RUNNER test",
            "docker ps",
            "black --check .",
        ],
    );
}

#[test]
fn a_test_is_named_also_beside_a_command_that_writes() {
    for command in ["cargo test > log.txt", "npm install && npm test", "pytest | tee out"] {
        assert_eq!(classify(command), CommandKind::Writing, "{command}");
        assert!(names_test(command), "{command}");
    }
    for command in [
        "echo 'cargo test'",
        "grep -rn pytest .",
        "git commit -m 'make test'",
        "cat run-tests.sh",
        "ls tests",
    ] {
        assert!(!names_test(command), "{command}");
    }
}

#[test]
fn skipped_git_hooks_are_found() {
    for command in [
        "git commit --no-verify -m x",
        "git commit -m x --no-verify",
        "git commit -n -m x",
        "git commit -nm x",
        "git commit -anm 'x'",
        "git -C web commit -n",
        "git -c user.name=x commit --no-verify",
        "git push --no-verify",
        "git push origin main --no-veri",
        "git merge --no-verify b",
        "git -c core.hooksPath=/dev/null commit -m x",
        "git -c core.hookspath= commit -m x",
        "git config core.hooksPath /dev/null",
        "git config --unset core.hooksPath",
        "HUSKY=0 git commit -m x",
        "env HUSKY=0 git commit -m x",
        "export HUSKY=0 && git commit -m x",
        "HUSKY=0; git commit -m x",
        "LEFTHOOK=0 git push",
        "SKIP=lint git commit -m x",
        "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0=x git commit",
        "cd web && git add . && git commit -m x -n",
        "bash -c \"git commit --no-verify -m 'x'\"",
        "ls | xargs git commit -n -m x",
        "/usr/bin/git commit --no-verify",
        "echo $(git commit -n)",
        "git commit \"--no-verify\"",
        "git commit --no-ver'ify'",
        "git am -n a.patch",
    ] {
        assert!(skips_git_hooks(command), "{command}");
    }
    for command in [
        "git commit -m 'use --no-verify'",
        "git commit -m --no-verify",
        "git commit -m -n",
        "git commit -am 'n'",
        "git commit -mn",
        "git commit -uno -m x",
        "git commit -F notes",
        "git commit -m x -- -n",
        "git push -n",
        "git merge -n b",
        "git log -n 5",
        "echo git commit --no-verify",
        "echo 'HUSKY=0 git commit'",
        "HUSKY=0 npm ci",
        "HUSKY=1 git commit -m x",
        "git config core.hooksPath",
        "git config --get core.hooksPath",
        "grep -rn -- --no-verify .",
        "# git commit --no-verify",
        "SKIP=1 make",
    ] {
        assert!(!skips_git_hooks(command), "{command}");
    }
}

#[test]
fn forced_pushes_are_found() {
    for command in [
        "git push --force",
        "git push -f origin main",
        "git push -uf origin main",
        "git push --force-with-lease",
        "git push --force-with-lease=main:abc origin",
        "git push origin +main",
        "git push origin '+HEAD:main'",
        "git push origin -- +main",
        "git push --mirror",
        "git -C web push -f",
        "git fetch && git push --force || true",
        "sh -c 'git push -f'",
        "timeout 60 git push -f",
    ] {
        assert!(forces_push(command), "{command}");
    }
    for command in [
        "git push",
        "git push origin main",
        "git push --delete origin old",
        "git push origin :old",
        "git push --follow-tags",
        "git push -u origin feature-f",
        "git push -o --force",
        "git commit -m 'git push --force'",
        "echo git push --force",
        "git fetch --force",
        "git push origin a+b",
    ] {
        assert!(!forces_push(command), "{command}");
    }
}

#[test]
fn strange_commands_do_no_harm() {
    for command in [
        "'",
        "\"",
        "`",
        "$(",
        "<<",
        ">",
        "&",
        "|",
        "((",
        "bash -c",
        "git",
        "git -c",
        "git push -",
        "sudo",
        "timeout",
        "env -u",
        "find -exec",
        "é > ü",
        "git commit -",
    ] {
        classify(command);
        names_test(command);
        skips_git_hooks(command);
        forces_push(command);
    }
}
