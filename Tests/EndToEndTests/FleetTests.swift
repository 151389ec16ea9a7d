import Files
import SQLite
import TestSupport
import Testing

/// The scripts in the article on fleets, run as they stand there.
@Suite(
  "The article's scripts for a fleet",
  .enabled(if: !Shell.strata.isEmpty, "the program was not built"))
struct FleetTests {
  private let folder: TemporaryFolder
  private var place: String { folder.path("place") }

  /// Four stores, of which one is damaged and one was migrated before.
  init() throws {
    folder = try TemporaryFolder()
    let made = Shell.run(
      """
      set -e
      '\(Shell.strata)' demo '\(folder.path("demo"))' --objects 200 --no-open
      mkdir -p '\(place)/logs' '\(folder.path("bin"))'
      cp -R '\(folder.path("demo"))/Recipes.xcdatamodeld' '\(place)/'
      for n in 1 2 3 4; do
        mkdir -p "\(place)/Fleet/it's $n"
        cp -R '\(folder.path("demo"))/Recipes.sqlite' '\(folder.path("demo"))/.Recipes_SUPPORT' \
          "\(place)/Fleet/it's $n/"
      done
      echo 'no store' > "\(place)/Fleet/it's 3/Recipes.sqlite"
      ln -s '\(Shell.strata)' '\(folder.path("bin"))/strata'
      strata() { '\(Shell.strata)' "$@"; }
      strata migrate "\(place)/Fleet/it's 4/Recipes.sqlite" --no-backup \
        --to '\(place)/Recipes.xcdatamodeld@Recipes 2'
      """)
    try #require(made == 0)
  }

  private func shell(_ script: String) -> Int32 {
    Shell.run(
      "cd '\(place)' || exit 99\nexport PATH='\(folder.path("bin"))':\"$PATH\" HOME='\(folder.path)'\n"
        + script)
  }

  private func text(_ name: String) -> String {
    String(decoding: (try? FileSystem.read(place + "/" + name)) ?? [], as: UTF8.self)
  }

  /// What a run must have left: receipts and backups of those that were migrated, and only of those.
  private func expectMigrated(sourceLocation: SourceLocation = #_sourceLocation) {
    for number in 1...4 {
      let store = "Fleet/it's \(number)/Recipes"
      let isDone = number < 3
      #expect(
        text(store + ".sqlite.receipt.json").contains("\"to\":\"Recipes 2\"") == isDone,
        "store \(number)", sourceLocation: sourceLocation)
      #expect(
        FileSystem.isFile(place + "/" + store + ".backup-1") == isDone, "store \(number)",
        sourceLocation: sourceLocation)
    }
  }

  /// The exit statuses that a log tells, by its column, sorted.
  private func statuses(column: Int, skipping lines: Int) -> [String] {
    text("statuses.tsv").split(separator: "\n").dropFirst(lines).map {
      String($0.split(separator: "\t", omittingEmptySubsequences: false)[column])
    }.sorted()
  }

  @Test("GNU parallel: each store has its receipt, and the log every status")
  func parallel() throws {
    guard Shell.run("parallel --version | grep -q GNU") == 0 else {
      print("skipped: there is no GNU parallel")
      return
    }
    let script = try ArticleBlock.lines(of: "Fleets", with: "parallel --jobs").joined(
      separator: "\n")
    // Of four stores one that fails is more than a fifth.
    let patient = script.split(separator: "fail=20%").joined(separator: "fail=60%")
    // With --halt in percent, its own status is the share of those that failed.
    #expect(shell(patient) == 25)
    expectMigrated()
    #expect(statuses(column: 6, skipping: 1) == ["0", "0", "0", "4"])
    // What may be run again, as the text below the block says, runs as it is written in the log.
    let sed = #"t=$(printf '\t'); sed -i.bak "s/${t}4${t}0${t}/${t}5${t}0${t}/" statuses.tsv"#
    #expect(shell(sed) == 0)
    #expect(
      shell(
        "awk -F'\\t' 'NR > 1 && ($7 == 5 || $7 > 128 || $8) { print $9 }' statuses.tsv | parallel")
        == 1)
  }

  @Test("xargs: the same")
  func xargs() throws {
    let script = try ArticleBlock.lines(of: "Fleets", with: "xargs -0").joined(separator: "\n")
    #expect(shell(script) == 0)
    expectMigrated()
    #expect(statuses(column: 0, skipping: 0) == ["0", "0", "0", "4"])
    // Wrong usage is that of every store.
    let wrong = script.split(separator: "--json").joined(separator: "--jsn")
    #expect(shell("rm statuses.tsv\n" + wrong) == 124)
    #expect(statuses(column: 0, skipping: 0).allSatisfy { $0 == "2" })
  }

  @Test("the array's script: one store a task, asked to run again where that may help")
  func array() throws {
    let script =
      try ArticleBlock.lines(of: "Fleets", with: "#SBATCH").joined(separator: "\n") + "\n"
    try FileSystem.write(Array(script.utf8), to: place + "/fleet.sh")
    let fake = "#!/bin/sh\necho \"$*\" >> asked.txt\n"
    try OtherProgram.write(script: fake, to: folder.path("bin") + "/scontrol")
    #expect(shell("find Fleet -name '*.sqlite' | sort > stores.txt") == 0)
    func task(_ number: Int, _ restarts: Int = 0) -> Int32 {
      shell(
        "SLURM_ARRAY_JOB_ID=7 SLURM_ARRAY_TASK_ID=\(number) SLURM_RESTART_COUNT=\(restarts) sh fleet.sh"
      )
    }
    #expect([1, 2, 3, 4].map { task($0) } == [0, 0, 4, 0])
    expectMigrated()
    #expect(text("asked.txt") == "")
    // A program that holds the store: it is as it was, and worth another try, but not for ever.
    FileSystem.remove(place + "/Fleet/it's 1/Recipes.sqlite")
    try FileSystem.copyOver(
      folder.path("demo/Recipes.sqlite"), to: place + "/Fleet/it's 1/Recipes.sqlite")
    let held = try Connection(path: place + "/Fleet/it's 1/Recipes.sqlite", mode: .readWrite)
    try held.execute("BEGIN IMMEDIATE")
    #expect(task(1) == 5 && task(1, 3) == 5)
    #expect(text("asked.txt") == "requeue 7_1\n")
    held.close()
    #expect(task(1) == 0)
  }

  @Test("the Job's command takes the line of its index")
  func job() throws {
    let lines = try ArticleBlock.lines(of: "Fleets", with: "kind: Job")
    let start = try #require(lines.firstIndex { $0.hasSuffix("- |") })
    let script = lines[(start + 1)...].map { String($0.drop { $0 == " " }) }
    #expect(shell("find Fleet -name '*.sqlite' | sort > stores.txt") == 0)
    let run = script.joined(separator: "\n")
    #expect(
      (0...3).map { shell("export JOB_COMPLETION_INDEX=\($0)\n" + run) } == [0, 0, 4, 0])
    expectMigrated()
  }
}
