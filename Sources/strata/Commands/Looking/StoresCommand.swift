import Containers
import Files
import JSON
import ManagedModel

/// `strata stores`: the stores in a folder, an app's data, an iOS backup or an archive.
enum StoresCommand {
  private static let help = """
    PATH is a folder, an .xcappdata, the folder of an iOS backup without encryption, or a .zip or .tar of
    any of these. A .tar may be compressed (.tar.gz; .bz2, .xz and .zst if bzip2, xz or zstd is installed).
    Every command that takes a STORE takes PATH//inner/path for a store in it; the inner path may be left
    out if there is only one store. The store is read through a private copy in the temporary folder
    (TMPDIR), with its -wal and external data; the copy is removed afterwards. The archive or folder is
    never modified.
    """

  private static let path = Argument("PATH", .file)
  static let command = Command(
    "stores", .look, "lists the stores in a folder, an app's data, an iOS backup or an archive",
    arguments: [path], options: [Option.json], details: help, example: "strata stores Backup.zip",
    statuses: "1 if there is none", run: run)

  private static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    try Interruption.removingCopies { try list(arguments, console) }
  }

  private static func list(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    let path = arguments[path]
    let (container, stores) = try Waiting.tell("looking into \(path)", on: console) {
      let container = try Container(path)
      return (container, try container.stores())
    }
    if arguments[.json] {
      write(stores, of: container, console)
    } else {
      print(stores, of: container, console)
    }
    for note in container.notes { console.note("! " + note) }
    return stores.isEmpty ? .no : .done
  }

  private static func print(
    _ stores: [ContainedStore], of container: Container, _ console: Console
  ) {
    guard !stores.isEmpty else {
      return console.line("no Core Data store is in \(container.path) (\(container.form.noun))")
    }
    console.line(
      "\(NumberText.counted(stores.count, "store")) in \(container.path) (\(container.form.noun))")
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
    // A column in which nothing is says nothing.
    let columns = heads.indices.filter { index in rows.contains { !$0[index].isEmpty } }
    console.table(
      columns.map { $0 < 3 ? .right : .left },
      ([heads] + rows).map { row in columns.map { row[$0] } }, limit: 4_096)
    for store in stores {
      if let problem = store.problem { console.line("! \(store.name): \(problem)") }
    }
    if let first = stores.first(where: { $0.look != .notDownloaded }) {
      console.line("inspect one: " + ShellText.command("info", path(of: first, in: container)))
    }
  }

  private static func model(of store: ContainedStore) -> String {
    guard case .store(let entities, let identifiers) = store.look else { return "" }
    if !identifiers.isEmpty { return identifiers.joined(separator: ", ") }
    return entities.isEmpty ? "" : NumberText.counted(entities.count, "entity", plural: "entities")
  }

  private static func path(of store: ContainedStore, in container: Container) -> String {
    container.path + "//" + store.name
  }

  private static func write(
    _ stores: [ContainedStore], of container: Container, _ console: Console
  ) {
    console.json { json in
      json.fields(["path": container.path, "kind": container.form.identifier])
      json.objects("stores", stores) { (json: inout JSONWriter, store: ContainedStore) in
        json.fields([
          "path": path(of: store, in: container), "name": store.name, "app": store.app,
          "bytes": store.bytes, "walBytes": store.logBytes, "externalFiles": store.externalFiles,
          "externalBytes": store.externalBytes,
        ])
        if case .store(let entities, let identifiers) = store.look {
          json.fields(["versionIdentifiers": identifiers, "entities": entities])
        } else {
          json.fields(["versionIdentifiers": [String](), "entities": [String]()])
        }
        json.field("problem", store.problem)
      }
      json.field("notes", container.notes)
    }
  }
}
