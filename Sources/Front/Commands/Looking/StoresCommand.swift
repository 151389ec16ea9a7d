import Containers
import Files
import JSON
import ManagedModel

/// `strata stores`: the stores in a folder, an app's data, an iOS backup or an archive.
package enum StoresCommand {
  private static let help = """
    PATH is a folder, an .xcappdata, the folder of an iOS backup, encrypted or not, a .zip or .tar of any of
    these, or a store packed as .gz. A .tar may be compressed (.tar.gz; .bz2, .xz and .zst if bzip2, xz or
    zstd is installed). A .zip in an archive is opened too. Of an archive that is cut off, the files before the
    cut are listed.
    Every command that takes a STORE takes PATH//inner/path for a store in it; the inner path may be left
    out if there is only one store. The store is read through a private copy in the temporary folder
    (TMPDIR), with its -wal and external data; the copy is removed afterwards. The archive or folder is
    never modified.

    The password of an encrypted backup is asked for on the terminal, or read with --password-file: never
    from an argument or the environment. Only the backup's list of files and the files of the chosen store
    are decrypted, into the private copy. The model of its stores is not listed for this reason.

    --simulators lists the stores of apps on the simulators of Xcode, in Library/Developer/CoreSimulator/Devices
    of the home folder: when each was changed, its size, the simulator, the bundle identifier of the app or the
    app group, and its path in the app's folder. That folder gets a new name with each installation.
    """

  private static let path = Argument(optional: "PATH", .file)
  private static let simulators = Option(
    "simulators", "list the stores of apps on simulators, the newest first")
  private static let home = Option(
    "home", "DIR", .folder, "the home folder in which simulators are looked for")
  package static let command = Command(
    "stores", .look, "lists the stores in a folder, an app's data, an iOS backup or an archive",
    arguments: [path], options: [simulators, home, Option.passwordFile, Option.json], details: help,
    example: "strata stores Backup.zip",
    statuses: "1 if there is no store", run: run)

  private static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    guard arguments[simulators] else {
      guard let path = arguments[path] else {
        throw CoreDataError(
          .usage, "stores needs a PATH, or --simulators", hint: "For example: strata stores .")
      }
      return try Interruption.removingCopies { try list(path, arguments, console) }
    }
    guard arguments[path] == nil else {
      throw CoreDataError(
        .usage, "--simulators takes no PATH",
        hint: "--home DIR looks for simulators in another home folder.")
    }
    guard let home = arguments[home] ?? UserFolders(environment: Output.environment).home else {
      throw CoreDataError(.usage, "HOME is not set: --home DIR says where simulators are")
    }
    return try listSimulators(in: home, arguments, console)
  }

  private static func listSimulators(
    in home: String, _ arguments: Arguments, _ console: Console
  ) throws -> CommandStatus {
    let path = (home.hasSuffix("/") ? String(home.dropLast()) : home) + "/" + SimulatorStores.place
    guard FileSystem.isDirectory(path) else {
      if arguments[.json] { console.json { write([], in: path, notes: [], to: &$0) } }
      console.note("there are no simulators: \(path) is not there")
      return .no
    }
    let found = try Waiting.tell("looking into \(path)", on: console) {
      try SimulatorStores(in: path)
    }
    if arguments[.json] {
      console.json { write(found.stores, in: found.path, notes: found.notes, to: &$0) }
    } else {
      print(found, console)
    }
    for note in found.notes { console.note("! " + note) }
    return found.stores.isEmpty ? .no : .done
  }

  private static func print(_ found: SimulatorStores, _ console: Console) {
    guard let first = found.stores.first else {
      return console.line("no app on a simulator has a Core Data store: \(found.path)")
    }
    let devices = Set(found.stores.map(\.device.udid)).count
    console.line(
      "\(NumberText.counted(found.stores.count, "store")) on \(NumberText.counted(devices, "simulator"))"
    )
    table(
      ["changed", "size", "-wal", "device", "app", "app group", "store"],
      found.stores.map { store in
        [
          LocalTime.ofFile(store.modified), NumberText.bytes(store.bytes),
          store.logBytes.map(NumberText.bytes) ?? "", store.device.description, store.app ?? "",
          store.group ?? "", store.name,
        ]
      }, numbers: 1..<3, console)
    for case (let store, .damaged(let problem)) in found.stores.map({ ($0, $0.look) }) {
      console.line("! \(store.path): damaged: \(problem)")
    }
    console.line("open the first: " + ShellText.command(first.path))
    console.line("choose one: " + ShellText.command(found.path))
  }

  private static func write(
    _ stores: [SimulatorStore], in path: String, notes: [String], to json: inout JSONWriter
  ) {
    json.fields(["path": path, "kind": "simulators"])
    json.objects("stores", stores) { (json: inout JSONWriter, store: SimulatorStore) in
      json.fields(["path": store.path, "name": store.name, "app": store.app, "group": store.group])
      json.object(
        "device",
        [
          "udid": store.device.udid, "name": store.device.name, "runtime": store.device.runtime,
        ])
      json.fields([
        "bytes": store.bytes, "walBytes": store.logBytes,
        "modified": CoreDataDate.text(store.modified),
      ])
      write(store.look, to: &json)
      var problem: String?
      if case .damaged(let message) = store.look { problem = "damaged: \(message)" }
      json.field("problem", problem)
    }
    json.field("notes", notes)
  }

  private static func list(
    _ path: String, _ arguments: Arguments, _ console: Console
  ) throws -> CommandStatus {
    let passwords = BackupPasswords(file: arguments[.passwordFile], on: console)
    let (container, stores) = try Waiting.tell("looking into \(path)", on: console) { draft in
      let container = try Container(path, unlocking: passwords.unlocking(pausing: draft))
      return (container, try container.stores())
    }
    let notes =
      container.notes + container.passedOver.map(\.sentence)
      + container.distantLogs(of: stores.map(\.name)).map {
        DistantLogs.sentence($0, in: container.path)
      }
    if arguments[.json] {
      write(stores, of: container, notes, console)
    } else {
      print(stores, of: container, console)
    }
    for note in notes { console.note("! " + note) }
    return stores.isEmpty ? .no : .done
  }

  private static func print(
    _ stores: [ContainedStore], of container: Container, _ console: Console
  ) {
    guard !stores.isEmpty else {
      return console.line("no Core Data store is in \(container.path) (\(container.form.noun))")
    }
    console.line("\(stores.counted) in \(container.path) (\(container.form.noun))")
    let heads = ["size", "-wal", "external", "model", "app", "store"]
    let rows = stores.map { store in
      [
        store.look == .notDownloaded ? "" : NumberText.bytes(store.bytes),
        store.logBytes.map(NumberText.bytes) ?? "",
        store.externalFiles == 0
          ? "" : "\(store.externalFiles), \(NumberText.bytes(store.externalBytes))",
        model(of: store), store.app ?? "", store.name,
      ]
    }
    table(heads, rows, numbers: 0..<3, console)
    for store in stores {
      if let problem = store.problem { console.line("! \(store.name): \(problem)") }
    }
    if let first = stores.first(where: { ![.notDownloaded, .nothing].contains($0.look) })
      ?? stores.first(where: { $0.look == .nothing })
    {
      console.line("inspect one: " + ShellText.command("info", path(of: first, in: container)))
    }
  }

  /// Prints a table without its empty columns.
  private static func table(
    _ heads: [String], _ rows: [[String]], numbers: Range<Int>, _ console: Console
  ) {
    let columns = heads.indices.filter { index in rows.contains { !$0[index].isEmpty } }
    console.table(
      columns.map { numbers.contains($0) ? .right : .left },
      ([heads] + rows).map { row in columns.map { row[$0] } }, limit: 4_096)
  }

  private static func write(_ look: StoreLook, to json: inout JSONWriter) {
    if case .store(let entities, let identifiers) = look {
      json.fields(["versionIdentifiers": identifiers, "entities": entities])
    } else {
      json.fields(["versionIdentifiers": [String](), "entities": [String]()])
    }
  }

  private static func model(of store: ContainedStore) -> String {
    if case .atomic(let form) = store.look { return "\(form.rawValue) store" }
    guard case .store(let entities, let identifiers) = store.look else { return "" }
    if !identifiers.isEmpty { return identifiers.joined(separator: ", ") }
    return entities.isEmpty ? "" : NumberText.counted(entities.count, "entity", plural: "entities")
  }

  private static func path(of store: ContainedStore, in container: Container) -> String {
    container.path + "//" + store.name
  }

  private static func write(
    _ stores: [ContainedStore], of container: Container, _ notes: [String], _ console: Console
  ) {
    console.json { json in
      json.fields(["path": container.path, "kind": container.form.identifier])
      json.objects("stores", stores) { (json: inout JSONWriter, store: ContainedStore) in
        json.fields([
          "path": path(of: store, in: container), "name": store.name, "app": store.app,
          "bytes": store.bytes, "walBytes": store.logBytes, "externalFiles": store.externalFiles,
          "externalBytes": store.externalBytes,
        ])
        if case .atomic(let form) = store.look {
          json.field("type", form.rawValue)
        } else {
          json.field("type", store.look == .nothing ? nil : "SQLite")
        }
        write(store.look, to: &json)
        json.field("problem", store.problem)
      }
      json.field("notes", notes)
    }
  }
}
