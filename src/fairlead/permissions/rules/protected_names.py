"""Names of files that can make programs run, and names that are known not to.

The CLI asks before it writes a file with one of the first names, in whatever folder. Its list grows
with every version, so a name that begins with a dot and is on neither list is uncertain. Pure.
"""

from __future__ import annotations

import re

from fairlead.permissions.model.families import CURRENT, Family

__all__ = ["is_protected", "unknown_dot_name"]

_PROTECTED_WORDS = """.git .vscode .idea .claude .gitmodules .gitconfig .claude.json .mcp.json .bashrc
    .bash_profile .zshrc .zprofile .profile .ripgreprc"""
_PROTECTED = frozenset(_PROTECTED_WORDS.split())
"""Names that can make a program run: the user decides, even if edits are accepted."""

_IGNORED = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
"""Characters that a file system may leave out of a name (CLI-1723)."""

_HARMLESS_WORDS = """
    ackrc actrc aerospace.toml agent agents agignore aider.conf.yml aiderignore air.toml alacritty.yml alexrc
    aliases all-contributorsrc amazonq anacrontab android angular ansible-lint ansible.cfg anthropic antigen
    appveyor.yml arcconfig arclint asdfrc asoundrc augment autoconf aws aws-sam azure azure-pipelines.yml babelrc
    babelrc.js babelrc.json backup bash_completion bash_env bash_functions bash_history bash_prompt bashrc.d bazel
    bazelignore bazelisk bazelproject bazelrc.user biome.json boto browserslistrc buckconfig buildkite
    bumpversion.cfg bundle byobu bzr c8rc.json cabal cache cargo-ok ccls changeset chef circleci clang-format clang-
    tidy clangd classpath claude-code claude-plugin claude.local.json claude.md claudeignore cline clinerules cmake-
    format cocoapods codeclimate.yml codecov.yml codeium codesandbox codex commitlintrc commitlintrc.js
    commitlintrc.json condarc config config.fish continue copilot coveragerc coveralls.yml crontab crush.json cshrc
    cspell.json curlrc cursor cursorrules cvsignore cvsrc cz.toml czrc dagger dart_tool data deepsource.toml
    depcheckrc dependabot dev.vars devfile.yaml digrc dir-locals.el dircolors direnv dmrc docker dockerignore doom.d
    dprint.json drone.yml ds_store duckdbrc earthly ebextensions editorconfig eggs elinks emacs emacs.d env
    env.development env.example env.local env.production env.sample env.test envfile envrc.local esd_auth
    eslintcache eslintignore eslintrc eslintrc.cjs eslintrc.js eslintrc.json eslintrc.yaml eslintrc.yml expo exports
    exrc extra face fastlane fdignore firebaserc fishrc flake8 flaskenv fleet flowconfig flutter flutter-plugins
    fonts.conf foreman forgejo forward functions fzf.bash fzf.zsh gcloud gdbinit gemini gemrc ghci ghcid git-blame-
    ignore-revs git-completion.bash git-credentials git-hooks git-prompt.sh git-template gitattributes
    gitattributes_global gitconfig-work gitconfig.local gitea githooks github gitignore gitignore_global gitkeep
    gitlab gitlab-ci gitlab-ci.yml gitleaks.toml gitlint gitmessage gitpod.dockerfile gitpod.yml gitreview gitstats
    gnupg golangci.yaml golangci.yml goosehints goreleaser.yaml goreleaser.yml gradle gtkrc hadolint hadolint.yaml
    hammerspoon hg hgignore hgrc hgtags hidden htaccess htoprc hushlogin huskyrc huskyrc.js huskyrc.json hyper.js
    iceauthority ignore inputrc inputrc.local ipython irb_history irbrc isort.cfg iterm2 java jestrc jj jscsrc
    jshintrc julia juliarc.jl junie jupyter justfile jvmopts keep keras kiro kitchen.yml kitty.conf knip.json
    kodiak.toml kshenv kshrc kube launchd lefthook-local.yml lein less lesshst lesskey lighthouserc.json
    lintstagedrc lintstagedrc.js lintstagedrc.json lldbinit local log login logout logs lynxrc m2 mackup.cfg mailmap
    mailrc markdownlint.json markdownlint.yaml markdownlintrc matplotlib mcp mcp.jsonc mergify.yml metadata mise
    mise.toml mkshrc mocharc.js mocharc.json mocharc.yml mongorc.js mongoshrc.js mplayer muttrc my.cnf my.cnf.d
    mypy.ini mypy_cache nanorc ncurc.json netlify netrc next node-version node_modules node_repl nodemon.json
    nodemonrc nox npm npmignore nuget nuxt nvim nvimrc nvm nvmrc nx nycrc nycrc.json ocamlinit octaverc oh-my-zsh
    opam opencode output overcommit.yml oxlintrc.json p10k.zsh p4config p4ignore packages pam_environment parcel-
    cache path pdbrc pearrc percy.yml perltidyrc pgpass phabricator phan php-cs-fixer.php php-version php_cs
    phpunit.xml placeholder plan platform plist pnp.data.json pnp.js pnp.mjs pnpmfile.js pnpmfile.mjs postcssrc
    powrc pre-commit pre-commit-config.json pre-commit-config.yml pre-commit-hooks.yaml prettierignore prettierrc
    prettierrc.js prettierrc.json prettierrc.toml prettierrc.yaml prettierrc.yml procmailrc project pryrc ps1 psalm
    psql_history psqlrc pub-cache pulumi puppet-lint.rc pylintrc pypirc pytest_cache python-version python_history
    pythonrc pythonrc.py rclone.conf rediscli reek.yml release-it.json releaserc remarkrc renovaterc renviron replit
    reviewboardrc rgignore rhosts roo roomodes rprofile rspec rspec_status rubocop.yml rubocop_todo.yml ruby-gemset
    ruby-version ruff.toml ruff_cache run rustfmt.toml rvmrc s2i s3cfg sbtopts sbtrc scalafix.conf scalafmt.conf
    screenrc sdkmanrc secrets secrets.baseline semrelrc sentryclirc serverless settings shinit shosts shrc simple-
    git-hooks.json simplecov size-limit.json skhdrc sl snyk solargraph.yml sonarcloud.properties sops.yaml sops.yml
    spacemacs sqlite sqlite_history sqliterc ssh stack stackblitz stackblitzrc storybook style.yapf stylelintrc
    stylelintrc.json sublime sudo_as_admin_successful svelte-kit svn svnignore swc swcrc swiftformat swiftlint.yml
    swiftpm syncpackrc taprc taskrc tcshrc temp tern-project terraform terraform-version terraform.lock.hcl
    terraformrc textlintrc tflint.hcl tfsec theanorc theia tmp tmux tmux.conf tool-versions toprc tox trae trash
    travis.yml trivy.yaml trivyignore tsbuildinfo turbo user.ini vale.ini vault-token vault_pass venv vercel
    versionrc vim viminfo vimrc vs well-known wezterm.lua wget-hsts wgetrc windsurf windsurfrules woodpecker.yml
    worktreeinclude wrangler xauthority xcode.env xinitrc xprofile xresources xsession yabairc yamllint yamllint.yml
    zcompdump zed zinit zplug zsh_history zshrc.local
    """
_HARMLESS = frozenset(f".{word}" for word in _HARMLESS_WORDS.split())
"""Names with a dot that 2.1.325 was measured to write without a question while edits are accepted."""


def is_protected(path: str, family: Family) -> bool:
    """Whether the file can make programs run, so that only the user may allow writing it."""
    # `ſ` is an `S` in capital letters, so a name is compared after both changes (CLI-1723).
    lower = _IGNORED.sub("", path).upper().lower()
    if "/.claude/worktrees/" in lower:
        lower = lower.replace("/.claude/worktrees/", "/worktrees/")
    # Windows reads `.git.` and `.git::$DATA` as `.git`, so this does the same everywhere.
    parts = [part.split("::")[0].rstrip(".").rstrip().rstrip(". ") for part in lower.split("/")]
    flat = "/" + "/".join(part for part in parts if part) + "/"
    return any(f"/{name}/" in flat for name in _PROTECTED | family.extra_protected)


def unknown_dot_name(path: str) -> str | None:
    """The first name in the path that begins with a dot and is not known to be harmless."""
    for name in path.replace(".claude/worktrees/", "").split("/"):
        # A family that does not protect a name of the newest one was measured to write it.
        known = name.lower() in _HARMLESS | CURRENT.extra_protected or name.startswith(".env.")
        if name.startswith(".") and name not in (".", "..") and not known:
            return name
    return None
