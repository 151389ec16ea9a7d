import Files
import ManagedStore
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Root works in a folder of another user, who swaps links in for the files that root makes.
/// Four runs of each command, or n with STRATA_RACES=n.
@Suite(
  "Root in a user's folder", .serialized,
  .enabled(if: TestScale.isFull, "\(TestScale.condition)"),
  .enabled(
    if: geteuid() == 0 && !Shell.strata.isEmpty && Tool.python3.isAvailable,
    "only root can become another user, or the program or python3 is missing"))
struct RaceTests {
  private static let runs = TestScale.count(4, ofAll: 4, variable: "STRATA_RACES")

  /// Puts a link in the place of every new file of a run, as fast as it can, and the file back in turn.
  private static let swapper = """
    import os, sys
    folder, victims, log = sys.argv[1], sys.argv[2:4], sys.argv[4]
    os.setgid(65534); os.setuid(65534)
    os.chdir(folder)
    open('ready', 'w').close()
    swaps = 0
    while not os.path.exists('stop'):
        for name in os.listdir('.'):
            if not (name.startswith('.strata-') and not name.startswith('.strata-journal-')):
                continue
            try:
                hidden = 'hidden-%d' % swaps
                os.rename(name, hidden)
                os.symlink(victims[swaps % 2], name)
                swaps += 1
                if swaps % 3:
                    for _ in range(50 * (swaps % 7)):
                        pass
                    os.rename(hidden, name)
            except OSError:
                pass
    with open('swaps', 'w') as file:
        file.write(str(swaps))
    """

  @Test(
    "whose names are swapped for links to root's files gives none of them away",
    arguments: ["migrate", "migrate --output", "reset", "repair"])
  func swapped(command: String) throws {
    let folder = try TemporaryFolder()
    chmod(folder.path, 0o755)
    let made = ChildProgram([
      Shell.strata, "demo", folder.path("made"), "--objects", "200", "--no-open",
    ])
    #expect(made?.wait() == 0)
    let model = folder.path("made/Recipes.xcdatamodeld")
    // Root's own: a file, and a store.
    try FileSystem.makeDirectory(folder.path("root"), permissions: 0o700)
    let victims = [folder.path("root/secret"), folder.path("root/Root.sqlite")]
    try FileSystem.write(Array("root's own".utf8), to: victims[0])
    try FileSystem.copy(folder.path("made/Recipes.sqlite"), to: victims[1])
    for victim in victims { chmod(victim, 0o600) }
    func facts(_ path: String) throws -> [String] {
      var info = stat()
      guard lstat(path, &info) == 0 else { return ["gone"] }
      return [
        "\(info.st_uid) \(info.st_gid) \(String(info.st_mode, radix: 8)) \(info.st_nlink)",
        try FileSystem.sha256(path),
      ]
    }
    let before = try victims.map(facts)
    let inRoot = try FileSystem.list(folder.path("root"))
    try FileSystem.write(Array(Self.swapper.utf8), to: folder.path("swap.py"))
    var (swaps, done, lost) = (0, 0, 0)
    var number = 0
    // On a machine with much else to do, no name may have been met in a few runs.
    while number < Self.runs || (swaps == 0 && number < Self.runs + 60) {
      number += 1
      let place = folder.path("place")
      FileSystem.removeTree(place)
      try FileSystem.makeDirectory(place)
      let store = place + "/Recipes.sqlite"
      try FileSystem.copy(folder.path("made/Recipes.sqlite"), to: store)
      if command == "repair" {
        #expect(Shell.run("sqlite3 '\(store)' \"UPDATE Z_PRIMARYKEY SET Z_MAX = 0\"") == 0)
      }
      for path in [place, store] { chown(path, 65534, 65534) }
      let racer = try #require(
        ChildProgram(
          ["python3", folder.path("swap.py"), place, victims[0], victims[1], folder.path("log")]))
      let words =
        switch command {
        case "reset": ["reset", store, "--model", model + "@Recipes 3", "--force"]
        case "repair": ["repair", store]
        case "migrate": ["migrate", store, "--to", model + "@Recipes 2"]
        default:
          ["migrate", store, "--to", model + "@Recipes 2", "--output", place + "/Out.sqlite"]
        }
      for _ in 0..<3_000 where !FileSystem.isFile(place + "/ready") { usleep(10_000) }
      let child = try #require(
        ChildProgram(
          [Shell.strata] + words, environment: ["XDG_STATE_HOME": folder.path("state")]))
      if child.wait() == 0 { done += 1 }
      try FileSystem.write([], to: place + "/stop")
      racer.wait()
      swaps += Int(String(decoding: Shell.bytes(of: place + "/swaps"), as: UTF8.self)) ?? 0
      #expect(try victims.map(facts) == before, "\(command), run \(number)")
      #expect(try FileSystem.list(folder.path("root")) == inRoot, "\(command), run \(number)")
      if !FileSystem.isFile(store) { lost += 1 }
    }
    print(
      "\(command): \(number) runs, \(swaps) swaps, \(done) runs went through, \(lost) stores moved"
    )
    #expect(swaps > 0)
    #expect(lost == 0)
  }
}
