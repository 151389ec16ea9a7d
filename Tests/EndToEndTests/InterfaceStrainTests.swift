import ManagedStore
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What can happen to the interface in the middle of a migration.
@Suite(
  "The interface under strain", .serialized, .enabled(if: Shell.hasTmux, "tmux is not installed"),
  .enabled(if: !Shell.strata.isEmpty, "the program was not built"))
struct InterfaceStrainTests {
  @Test(
    "^C right after the start: the store is as it was, and it can be tried again",
    .enabled(if: TestScale.isFull, "\(TestScale.condition)"))
  func interrupted() {
    let demo = InterfaceDemo(objects: 60_000)
    let before = demo.fingerprint
    let terminal = demo.open()
    _ = terminal.screen(showing: "Entities")
    terminal.send("4")
    _ = terminal.screen(showing: "asks, then migrates")
    terminal.askToMigrate()
    terminal.sendAtOnce("y", "C-c")
    let stopped = terminal.screen(
      showing: "You stopped the last attempt",
      "You stopped the last attempt; the store is unchanged.")
    #expect(stopped.contains("You stopped the last attempt; the store is unchanged."), "\(stopped)")
    #expect(demo.fingerprint == before)
    terminal.send("!")
    let log = terminal.screen(showing: "Log", "migrating to", "! cancelled (134120)")
    #expect(log.contains("! cancelled (134120)"), "\(log)")
    terminal.send("q")
    _ = terminal.screen(showing: "asks, then migrates", without: ["Log"])
    terminal.askToMigrate()
    terminal.send("y")
    #expect(terminal.screen(showing: "receipt").contains("✓ migrated “Recipes”"))
  }

  @Test(
    "fifty resizes while it migrates leave the screen whole, and the migration alone",
    .enabled(if: TestScale.isFull, "\(TestScale.condition)"))
  func resized() {
    let demo = InterfaceDemo(objects: 60_000)
    let terminal = demo.open()
    _ = terminal.screen(showing: "Entities")
    terminal.send("4")
    _ = terminal.screen(showing: "asks, then migrates")
    terminal.send("p")
    terminal.askToMigrate()
    terminal.send("y")
    for step in 0..<50 {
      terminal.resize(width: 20 + step * 37 % 140, height: 4 + step * 23 % 50)
    }
    terminal.resize(width: 100, height: 30)
    let screen = terminal.screen(
      showing: "is not replaced yet", "▸4 Migrate", "y replace the store")
    let lines = screen.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.first?.contains("Recipes.sqlite") == true, "\(screen)")
    #expect(
      lines.dropFirst().first?.hasPrefix("┌ the store is not replaced yet") == true, "\(screen)")
    terminal.send("y")
    #expect(terminal.screen(showing: "receipt").contains("to roll back: b, or"))
  }

  @Test(
    "asked to end, or its terminal closed, while it waits: nothing changed, nothing left",
    arguments: TestScale.some(1, of: ["TERM", "HUP", "closed"]))
  func ended(how: String) {
    let demo = InterfaceDemo()
    let before = demo.fingerprint
    let terminal = demo.open()
    _ = terminal.screen(showing: "Entities")
    #expect(terminal.migrate(pausing: true).contains("is not replaced yet"))
    #expect(demo.names.contains(".strata-migrating-"))
    if how == "closed" {
      terminal.close()
    } else {
      terminal.signal(how)
      #expect(terminal.screen(showing: "EXIT 130").contains("EXIT 130"))
    }
    _ = demo.names(without: ".strata-migrating-")
    #expect(demo.fingerprint == before)
  }

  @Test("killed while it waits: the next start says what it found, and cleans up after y alone")
  func killed() {
    let demo = InterfaceDemo()
    let before = demo.sum
    let terminal = demo.open()
    _ = terminal.screen(showing: "Entities")
    #expect(terminal.migrate(pausing: true).contains("is not replaced yet"))
    terminal.signal("KILL")
    _ = terminal.screen(showing: "EXIT 137")
    #expect(demo.sum == before)
    #expect(demo.names.contains(".strata-migrating-Recipes.sqlite-"))
    terminal.close()
    let left = demo.fingerprint
    let again = demo.open()
    let title = "Recover from an interrupted run?"
    let screen = again.screen(showing: title, "y recover", "Entities")
    #expect(screen.contains(".strata-migrating-Recipes.sqlite-"), "\(screen)")
    again.send("Enter", "Enter", "n")
    _ = again.screen(showing: "nothing was changed; the next migrate", without: [title])
    #expect(demo.fingerprint == left)
    again.send("C-r")
    _ = again.screen(showing: title, "y recover")
    #expect(demo.fingerprint == left)
    again.send("y")
    let done = again.screen(showing: "An earlier run was interrupted", without: [title])
    #expect(done.contains("An earlier run was interrupted"), "\(done)")
    #expect(!demo.names.contains(".strata-migrating-"))
    again.send("!")
    // Asked of one screen: a frame can be seen before all of it is drawn.
    let words = ["what it left", "(.strata-migrating-Recipes.sqlite-", "was removed"]
    let log = again.screen(showing: "Log", words[0], words[1], words[2])
    for words in words { #expect(log.contains(words), "\(log)") }
    #expect(demo.sum == before)
  }

  @Test(
    "a store whose file a killed rollback has moved away is restored after y alone",
    .enabled(if: TestScale.isFull, "\(TestScale.condition)"))
  func moved() {
    let demo = InterfaceDemo()
    let sum = demo.sum
    let work = ".strata-migrating-Recipes.sqlite-abcdef"
    Shell.run(
      """
      cd '\(demo.place)'; device=$(stat -c %d Recipes.sqlite); file=$(stat -c %i Recipes.sqlite)
      mv Recipes.sqlite Recipes.undone-1
      printf '%s\\0' strata-run-1 rollback work \(work) \
      aside Recipes.sqlite Recipes.undone-1 $device $file \
      bring \(work) Recipes.sqlite $device 1 go > .strata-journal-Recipes.sqlite
      """)
    let left = demo.fingerprint
    let terminal = demo.open(width: 80, height: 24)
    let screen = terminal.screen(
      showing: "Recover from an interrupted run?", "▸5 Rescue", "y recover")
    #expect(screen.contains("y recover"), "\(screen)")
    terminal.send("Enter", "Escape")
    _ = terminal.screen(showing: "nothing was changed; the next migrate")
    #expect(demo.fingerprint == left)
    terminal.send("C-r")
    _ = terminal.screen(showing: "Recover from an interrupted run?")
    terminal.send("y")
    let done = terminal.screen(showing: "An earlier run was interrupted", "✓ exact", "2,060")
    #expect(done.contains("2,060"), "\(done)")
    #expect(demo.sum == sum)
    #expect(!demo.names.contains("undone") && !demo.names.contains(".strata-journal-"))
    terminal.send("q")
    #expect(terminal.screen(showing: "EXIT 0").contains("EXIT 0"))
  }

  @Test(
    "the terminal is as it was after the end, a trap's and a fault's too",
    arguments: TestScale.some(2, of: ["TERM", "SEGV", "TRAP", "ILL", "ABRT"]))
  func restored(signal: String) {
    let demo = InterfaceDemo()
    let terminal = TmuxTerminal(
      width: 100, height: 30, folder: demo.folder,
      "stty -a > '\(demo.folder)/modes-before'; echo before; '\(Shell.strata)' '\(demo.store)'; "
        + "stty -a > '\(demo.folder)/modes-after'; true")
    _ = terminal.screen(showing: "Entities")
    terminal.signal(signal)
    let screen = terminal.screen(showing: "before", "EXIT", without: ["Entities"])
    #expect(screen.contains("before") && !screen.contains("Entities"), "\(screen)")
    let modes = Shell.bytes(of: demo.folder + "/modes-before")
    #expect(!modes.isEmpty && modes == Shell.bytes(of: demo.folder + "/modes-after"))
  }

  @Test(
    "^Z and fg in the middle: the screen comes back and the migration goes on",
    .enabled(if: TestScale.isFull, "\(TestScale.condition)"))
  func suspended() {
    let demo = InterfaceDemo(objects: 60_000)
    let terminal = TmuxTerminal(
      width: 100, height: 30, folder: demo.folder, "PS1='shell> ' bash --norc -i")
    _ = terminal.screen(showing: "shell>")
    terminal.send("\"'\(Shell.strata)' '\(demo.store)'\"", "Enter")
    _ = terminal.screen(showing: "Entities")
    terminal.send("4")
    _ = terminal.screen(showing: "asks, then migrates")
    terminal.send("p")
    terminal.askToMigrate()
    terminal.sendAtOnce("y", "C-z")
    let shell = terminal.screen(showing: "Stopped", without: ["▸4 Migrate"])
    #expect(shell.contains("Stopped") && !shell.contains("▸4 Migrate"), "\(shell)")
    terminal.send("fg", "Enter")
    let back = terminal.screen(showing: "is not replaced yet", "▸4 Migrate")
    #expect(back.contains("is not replaced yet"), "\(back)")
    terminal.send("y")
    #expect(terminal.screen(showing: "receipt").contains("✓ migrated “Recipes”"))
  }

  @Test(
    "a second strata reads the store meanwhile, and may not migrate it",
    .enabled(if: TestScale.isFull, "\(TestScale.condition)"))
  func second() {
    let demo = InterfaceDemo()
    let terminal = demo.open()
    _ = terminal.screen(showing: "Entities")
    #expect(terminal.migrate(pausing: true).contains("is not replaced yet"))
    let other = Shell.output(
      of: """
        export XDG_STATE_HOME='\(demo.folder)/state'; '\(Shell.strata)' info '\(demo.store)'; \
        '\(Shell.strata)' migrate '\(demo.store)' --to '\(demo.place)/Recipes.xcdatamodeld' 2>&1
        """, through: demo.folder + "/other")
    #expect(other.contains("2060"), "\(other)")
    #expect(other.contains("another strata process is working on this store"), "\(other)")
    // The one that waits still owns what it made.
    terminal.send("y")
    #expect(terminal.screen(showing: "receipt").contains("✓ migrated “Recipes”"))
  }

  @Test(
    "a store replaced while it is looked at is told, and ^R reads the new one",
    .enabled(if: TestScale.isFull, "\(TestScale.condition)"))
  func replaced() {
    let demo = InterfaceDemo()
    let other = InterfaceDemo(objects: 800)
    let terminal = demo.open()
    _ = terminal.screen(showing: "2,060")
    Shell.run("cp '\(other.store)' '\(demo.store).new' && mv '\(demo.store).new' '\(demo.store)'")
    let told = terminal.screen(
      showing: "! replaced: ^R", "another file is in the store’s place; ^R reads it")
    #expect(told.contains("another file is in the store’s place; ^R reads it"), "\(told)")
    terminal.send("C-r")
    let fresh = terminal.screen(
      showing: "Amount  312", "✓ exact", without: ["replaced", "2,060"])
    #expect(!fresh.contains("replaced") && !fresh.contains("2,060"), "\(fresh)")
  }

  @Test(
    "a disk that is full: told with what to do, and the store is as it was",
    .enabled(if: TestScale.isFull, "\(TestScale.condition)"),
    .enabled(if: geteuid() == 0, "only root can mount"))
  func full() {
    let disk = "/tmp/strata-e2e-disk-\(getpid())"
    guard Shell.run("mkdir -p '\(disk)' && mount -t tmpfs -o size=12m tmpfs '\(disk)'") == 0 else {
      print("skipped: no tmpfs can be mounted here")
      return
    }
    defer { Shell.run("umount '\(disk)'; rmdir '\(disk)'") }
    let demo = InterfaceDemo(in: disk + "/demo")
    let before = demo.sum
    let terminal = demo.open()
    _ = terminal.screen(showing: "Entities")
    terminal.send("4")
    _ = terminal.screen(showing: "asks, then migrates")
    terminal.askToMigrate()
    Shell.run("dd if=/dev/zero of='\(disk)/filler' bs=4096")
    terminal.send("y")
    let told = terminal.screen(showing: "✗ error", "full")
    #expect(told.contains("full"), "\(told)")
    #expect(demo.sum == before)
    #expect(!demo.names(without: ".strata-migrating-").contains(".strata-migrating-"))
    Shell.run("rm '\(disk)/filler'")
    terminal.send("q", "P")
    _ = terminal.screen(showing: "asks, then migrates")
    // The words may still be those of the plan before; Enter says so then, and does nothing. A second Enter
    // would answer the question that the first one asked, so each is sent when the last has been answered.
    let notYet = "still being made"
    Patience.wait {
      terminal.send("Enter")
      var answer = ""
      Patience.wait {
        answer = terminal.screen
        return answer.contains("On disk") || answer.contains(notYet)
      }
      guard !answer.contains("On disk") else { return true }
      terminal.send("Up")
      Patience.wait { !terminal.screen.contains(notYet) }
      return false
    }
    terminal.send("y")
    let done = terminal.screen(showing: "receipt", "✓ migrated “Recipes”")
    #expect(done.contains("✓ migrated “Recipes”"), "\(done)")
  }

  @Test("rolled back by a key, and the store reopened")
  func rolledBack() {
    let demo = InterfaceDemo()
    let before = demo.sum
    let terminal = demo.open()
    _ = terminal.screen(showing: "Entities")
    _ = terminal.migrate(pausing: false)
    _ = terminal.screen(showing: "receipt", "to roll back: b, or")
    #expect(demo.sum != before)
    terminal.send("b")
    _ = terminal.screen(showing: "Backups", "last changed", "Recipes.backup-1")
    terminal.send("Enter")
    let question = terminal.screen(
      showing: "Roll back Recipes.sqlite?", "Restores Recipes.backup-1", "Recipes.undone-1")
    #expect(question.contains("Recipes.undone-1"), "\(question)")
    terminal.send("y")
    let done = terminal.screen(
      showing: "✓ rolled back to Recipes.backup-1", "model “Recipes”",
      "opens, is intact, and holds what the backup held")
    #expect(done.contains("opens, is intact, and holds what the backup held"), "\(done)")
    #expect(demo.sum == before)
    #expect(demo.names.contains("Recipes.undone-1"))
  }
}
