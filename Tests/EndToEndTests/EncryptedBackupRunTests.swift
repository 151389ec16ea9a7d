import Files
import ManagedModel
import TestSupport
import Testing

@Suite("Encrypted backups, with the program", .enabled(if: !Shell.strata.isEmpty, "not built"))
struct EncryptedBackupRunTests {
  private static let password = "horse"
  private let demo = InterfaceDemo(objects: 3000)
  private var temporary: String { demo.folder + "/temporary" }
  private var copies: [String] { (try? FileSystem.list(temporary)) ?? [] }
  private var passwordFile: String { demo.folder + "/secret" }

  /// An encrypted backup of the demo's store, in a folder of its own.
  private func backup(
    _ change: (inout EncryptedBackupWriter.Options) -> Void = { _ in }
  ) throws -> String {
    let path = demo.folder + "/backups/Backup"
    try FileSystem.makeDirectory(demo.folder + "/backups")
    let writer = try EncryptedBackupWriter(path) { options in
      options.password = Self.password
      change(&options)
    }
    try writer.add(
      "AppDomain-com.example.recipes", "Documents/Recipes.sqlite", FileSystem.read(demo.store))
    try writer.finish()
    try FileSystem.makeDirectory(temporary)
    try FileSystem.write(Array(Self.password.utf8), to: passwordFile)
    return path
  }

  /// One whose derivation takes a minute.
  private func slowBackup() throws -> String {
    try backup { $0.rounds = 50_000_000 }
  }

  private func run(_ words: String) -> String {
    Shell.output(
      of: "TMPDIR='\(temporary)' '\(Shell.strata)' \(words) 2>&1; echo status $?",
      through: demo.folder + "/printed")
  }

  @Test("the password is read from standard input, and the store is as the plain one")
  func standardInput() throws {
    let path = try backup()
    // The backup has the store's main file, and none of its external data.
    try FileSystem.makeDirectory(demo.folder + "/alone")
    let alone = demo.folder + "/alone/Recipes.sqlite"
    try FileSystem.write(FileSystem.read(demo.store), to: alone)
    let plain = Shell.output(
      of: "'\(Shell.strata)' dump '\(alone)'", through: demo.folder + "/plain")
    let printed = Shell.output(
      of:
        "printf 'horse\\n' | TMPDIR='\(temporary)' '\(Shell.strata)' dump '\(path)' --password-file -",
      through: demo.folder + "/printed")
    #expect(printed == plain && plain.contains("\"entity\""))
    #expect(copies == [])
  }

  @Test("without a terminal nothing is asked, and a wrong password leaves nothing behind")
  func refused() throws {
    let path = try backup()
    // The shell's children have this test's terminal, if it has one, but no stream of theirs is one.
    let none = run("info '\(path)' < /dev/null")
    #expect(none.contains("--password-file FILE") && none.contains("status 4"), "\(none)")
    let wrong = run("info '\(path)' --password-file '\(demo.store)' < /dev/null")
    #expect(wrong.contains("status 2"), "\(wrong)")
    try FileSystem.write(Array("donkey".utf8), to: passwordFile)
    let other = run("info '\(path)' --password-file '\(passwordFile)'")
    #expect(other.contains("is wrong") && other.contains("status 4"), "\(other)")
    #expect(copies == [])
  }

  @Test(
    "on a terminal it is asked for without echo, again after a wrong one, and ^C ends it",
    .enabled(if: Shell.hasTmux, "tmux is not installed"))
  func prompt() throws {
    let path = try backup()
    let command =
      "TMPDIR='\(temporary)' '\(Shell.strata)' info '\(path)' > '\(demo.folder)/info'; "
      + "echo STATUS \\$?; stty | tr ' ' '\\n' | grep -cx -e -echo"
    let terminal = TmuxTerminal(width: 100, height: 30, folder: demo.folder, command)
    let prompt = terminal.screen(showing: "Password of the encrypted backup")
    #expect(prompt.contains("Anna’s iPhone") && prompt.contains("iOS 18.1"), "\(prompt)")
    terminal.send("donkey", "Enter")
    #expect(terminal.screen(showing: "The password is wrong").contains("is wrong"))
    terminal.send("horsex", "BSpace", "Enter")
    let done = terminal.screen(showing: "EXIT")
    #expect(done.contains("STATUS 0"), "\(done)")
    #expect(!done.contains("horse") && !done.contains("donkey"), "\(done)")
    // The terminal has its echo again.
    #expect(done.contains("\n0\n"), "\(done)")
    #expect(
      String(decoding: Shell.bytes(of: demo.folder + "/info"), as: UTF8.self).contains("Recipe"))
    terminal.close()

    let other = TmuxTerminal(width: 100, height: 30, folder: demo.folder, command)
    #expect(other.screen(showing: "Password of").contains("Password of"))
    other.send("hor", "C-c")
    let ended = other.screen(showing: "EXIT")
    #expect(ended.contains("STATUS 130") && ended.contains("\n0\n"), "\(ended)")
    #expect(copies == [])
    other.close()

    let third = TmuxTerminal(width: 100, height: 30, folder: demo.folder, command)
    #expect(third.screen(showing: "Password of").contains("Password of"))
    third.signal("TERM")
    let killed = third.screen(showing: "EXIT")
    #expect(killed.contains("STATUS 143") && killed.contains("\n0\n"), "\(killed)")
    third.close()
  }

  @Test("a signal ends it during the derivation, with nothing left", arguments: [SIGINT, SIGTERM])
  func derivation(_ number: Int32) throws {
    let path = try slowBackup()
    let program = try #require(
      ChildProgram(
        [Shell.strata, "info", path, "--password-file", passwordFile],
        environment: ["TMPDIR": temporary]))
    usleep(700_000)
    let start = ContinuousClock.now
    program.signal(number)
    #expect(program.wait() == 128 + number)
    #expect(ContinuousClock.now - start < .seconds(3))
    #expect(copies == [])
  }

  #if os(Linux)
    @Test("it leaves no core file, and its password is in no argument and no variable")
    func process() throws {
      let path = try slowBackup()
      let printed = Shell.output(
        of: """
          TMPDIR='\(temporary)' '\(Shell.strata)' info '\(path)' --password-file '\(passwordFile)' &
          child=$!
          for i in $(seq 100); do
            grep -q 'Max core file size  *0  *0' /proc/$child/limits && break; sleep 0.1
          done
          grep 'Max core' /proc/$child/limits
          cat /proc/$child/cmdline /proc/$child/environ | grep -ac horse; kill -9 $child
          """, through: demo.folder + "/printed")
      let core = try #require(printed.split(separator: "\n").first)
      #expect(core.split(separator: " ").dropFirst(4).prefix(2) == ["0", "0"], "\(printed)")
      #expect(printed.split(separator: "\n").dropFirst().first == "0", "\(printed)")
    }
  #endif

  @Test("what a killed run leaves is removed by the next one")
  func killed() throws {
    let path = try backup()
    let program = try #require(
      ChildProgram(
        [Shell.strata, "dump", path, "--password-file", passwordFile],
        environment: ["TMPDIR": temporary]))
    program.read { $0.has("\"entity\"") }
    #expect(copies.contains { $0.hasPrefix("strata-copy") }, "\(copies)")
    program.signal(SIGKILL)
    program.wait()
    #expect(copies != [])
    #expect(run("info '\(demo.store)'").contains("status 0"))
    #expect(copies == [])
  }

  @Test(
    "the interface shows the lock, asks for the password and lists the stores",
    .enabled(if: Shell.hasTmux, "tmux is not installed"))
  func interface() throws {
    _ = try backup()
    let terminal = TmuxTerminal(
      width: 80, height: 24, folder: demo.folder,
      "export XDG_STATE_HOME='\(demo.folder)/state' TMPDIR='\(temporary)'; "
        + "'\(Shell.strata)' '\(demo.folder)/backups'")
    let picker = terminal.screen(showing: "Backup/", "locked: an iOS backup")
    #expect(picker.contains("locked: an iOS backup"), "\(picker)")
    terminal.send("Enter")
    #expect(terminal.screen(showing: "Locked backup", "iOS 18.1").contains("iOS 18.1"))
    terminal.send("donkey", "Enter")
    #expect(terminal.screen(showing: "is wrong").contains("is wrong"))
    terminal.send("horse")
    let typed = terminal.screen(showing: "•••••")
    #expect(typed.contains("•••••") && !typed.contains("horse"), "\(typed)")
    terminal.send("Enter")
    let stores = terminal.screen(showing: "Recipes.sqlite", "Core Data")
    #expect(stores.contains("Recipes.sqlite"), "\(stores)")
    terminal.send("Enter")
    let browse = terminal.screen(showing: "▸1 Browse", "Recipe")
    #expect(browse.contains("▸1 Browse"), "\(browse)")
    terminal.send("!")
    let log = terminal.screen(showing: "Log")
    #expect(!log.contains("horse") && !log.contains("donkey"), "\(log)")
    // Neither what is kept of a session nor a private copy has the password.
    let found = Shell.output(
      of:
        "grep -rlE 'horse|donkey' '\(demo.folder)/state' '\(temporary)'; ls '\(demo.folder)/state'",
      through: demo.folder + "/found")
    #expect(!found.contains("/"), "\(found)")
    // The two at once would be one key, Alt and q.
    terminal.send("Escape")
    _ = terminal.screen(showing: "▸1 Browse", without: ["Esc close"])
    terminal.send("q")
    #expect(terminal.screen(showing: "EXIT 0").contains("EXIT 0"))
    let kept = Shell.output(
      of: "grep -rlE 'horse|donkey' '\(demo.folder)/state'; ls '\(demo.folder)/state/strata'",
      through: demo.folder + "/kept")
    #expect(kept.contains("sessions") && !kept.contains("/"), "\(kept)")
    #expect(copies == [])
    terminal.close()
  }
}
