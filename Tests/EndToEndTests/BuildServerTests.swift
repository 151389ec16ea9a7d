import Files
import TestSupport
import Testing

/// The workflow for a build server and the hook in the article on lint, run as the scripts that they are.
@Suite(
  "The article's scripts for a team",
  .enabled(
    if: !Shell.strata.isEmpty && Shell.run("command -v git") == 0,
    "the program was not built, or there is no git"))
struct BuildServerTests {
  private let folder: TemporaryFolder
  private var app: String { folder.path("app") }

  /// A repository whose main branch has the demo's models as they shipped, and a store of the first.
  init() throws {
    folder = try TemporaryFolder()
    let made = Shell.run(
      """
      set -e
      '\(Shell.strata)' demo '\(folder.path("demo"))' --objects 200 --no-open
      mkdir -p '\(app)/App' '\(app)/Shipped' '\(folder.path("bin"))'
      cp -R '\(folder.path("demo"))/Recipes.xcdatamodeld' '\(app)/App/'
      rm -rf '\(app)/App/Recipes.xcdatamodeld/Recipes 3.xcdatamodel' \
        '\(app)/App/Recipes.xcdatamodeld/Recipes 4.xcdatamodel'
      cp -R '\(folder.path("demo"))/Recipes.sqlite' '\(folder.path("demo"))/.Recipes_SUPPORT' \
        '\(app)/Shipped/'
      ln -s '\(Shell.strata)' '\(folder.path("bin"))/strata'
      echo '# nothing yet' > '\(app)/reviewed-losses.txt'
      """)
    try #require(made == 0)
    try #require(
      shell(
        "git init -q -b main && git add -A && git commit -q -m shipped && git update-ref refs/remotes/origin/main HEAD"
      ) == 0)
  }

  /// Runs a script in the repository, with strata in the path and no configuration of the person's.
  private func shell(_ script: String) -> Int32 {
    Shell.run(
      """
      cd '\(app)' || exit 99
      unset GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE
      export PATH='\(folder.path("bin"))':"$PATH" HOME='\(folder.path)' GIT_CONFIG_NOSYSTEM=1 \
        GIT_AUTHOR_NAME=Ann GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=Ann \
        GIT_COMMITTER_EMAIL=a@example.com
      \(script)
      """)
  }

  /// The commands of the workflow's steps that are strata's.
  private static func steps() throws -> [String] {
    var steps: [String] = []
    var isScript = false
    for line in try ArticleBlock.lines(of: "Linting", with: "runs-on:") {
      let text = String(line.drop { $0 == " " })
      if text.hasPrefix("- ") {
        isScript = text == "- run: |"
        steps.append(text.hasPrefix("- run: ") && !isScript ? String(text.dropFirst(7)) : "")
      } else if isScript {
        steps[steps.count - 1] += text + "\n"
      }
    }
    return steps.filter { $0.hasPrefix("strata ") }.map { step in
      step.split(separator: "${{ github.base_ref }}", omittingEmptySubsequences: false)
        .joined(separator: "main")
    }
  }

  private var version: String { "\(app)/App/Recipes.xcdatamodeld/Recipes.xcdatamodel/contents" }

  /// Gives an attribute of the first version, which shipped, another type.
  private func editShipped() throws {
    var text = String(decoding: try FileSystem.read(version), as: UTF8.self)
    let range = try #require(text.firstRange(of: "attributeType=\"Boolean\""))
    text.replaceSubrange(range, with: "attributeType=\"String\"")
    try FileSystem.write(Array(text.utf8), to: version)
  }

  @Test("the workflow's steps pass a change that harms nobody")
  func harmless() throws {
    let steps = try Self.steps()
    try #require(steps.count == 2)
    for step in steps { #expect(shell(step) == 0, "\(step)") }
    let report = String(decoding: try FileSystem.read(app + "/rehearsal.xml"), as: UTF8.self)
    #expect(report.contains("<testcase") && report.contains("Recipes.sqlite"), "\(report)")
    #expect(!report.contains("<failure"))
  }

  @Test("they fail where a version that shipped was edited, and where a loss was not reviewed")
  func harmful() throws {
    let steps = try Self.steps()
    try editShipped()
    let out = folder.path("out")
    #expect(shell("{ \(steps[0]); } > '\(out)'") == 1)
    let text = String(decoding: try FileSystem.read(out), as: UTF8.self)
    #expect(text.contains("::error") && text.contains("released-version-edited"), "\(text)")
    #expect(shell("git checkout -q -- App") == 0)
    // The third version drops an attribute.
    let third = "Recipes 3.xcdatamodel"
    let took = shell(
      """
      set -e
      cp -R '\(folder.path("demo"))/Recipes.xcdatamodeld/\(third)' App/Recipes.xcdatamodeld/
      sed -i.bak 's/Recipes 2.xcdatamodel/\(third)/' App/Recipes.xcdatamodeld/.xccurrentversion
      """)
    #expect(took == 0)
    #expect(shell(steps[1]) == 3)
  }

  @Test("the hook lets a harmless commit pass, and stops one that edits what shipped")
  func hook() throws {
    let script =
      try ArticleBlock.lines(of: "Linting", with: "exec strata lint").joined(separator: "\n") + "\n"
    #expect(script.contains("strata lint"))
    try FileSystem.write(Array(script.utf8), to: app + "/.git/hooks/pre-commit")
    #expect(shell("chmod +x .git/hooks/pre-commit") == 0)
    #expect(shell("echo text > README && git add -A && git commit -q -m harmless") == 0)
    try editShipped()
    #expect(shell("git commit -q -a -m edited") != 0)
    #expect(shell("git commit -q --no-verify -a -m meant") == 0)
  }
}
