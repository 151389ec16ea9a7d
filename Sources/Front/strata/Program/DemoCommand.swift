import Commands
import Demo
import Files
import ManagedStore
import ModelWriting

/// `strata demo`: a believable store with its model versions, to try everything on.
enum DemoCommand {
  private static let folder = Argument(optional: "DIR", .folder)
  private static let objects = Option<Int?>(
    number: "objects", atLeast: 1, "how many objects (default 5000)")
  private static let noOpen = Option("no-open", "only write the files")
  static let command = Command(
    "demo", .tryOut, "writes the demo store and its models, and opens the store",
    arguments: [folder], options: [objects, noOpen, Option.json],
    example: "strata demo /tmp/recipes --objects 100000 --no-open",
    statuses: "3 if the folder holds a demo already", run: run)

  private static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    let (objects, folder) = (arguments[objects] ?? 5000, arguments[folder])
    let isJSON = arguments[.json]
    let places = folder.map { [$0, $0 + "/" + storeName] } ?? [temporaryPlace]
    for place in places { RecoveryNotice.write(forOutput: place, to: console) }
    let written = try Waiting.tell("writing \(NumberText.counted(objects, "object"))", on: console)
    {
      try write(to: folder, objects: objects)
    }
    if isJSON {
      console.json { json in
        json.fields(["store": written.store, "model": written.model, "objects": written.objects])
      }
    } else {
      print(written, console)
    }
    guard !arguments[noOpen], !isJSON, console.isTerminal else { return .done }
    // One in a temporary folder is not worth remembering.
    let request = Runtime.Request(path: written.store, keepsSession: folder != nil)
    return try Runtime.open(request, console: console)
  }

  struct Written: Sendable, Equatable {
    let store: String
    let model: String
    let objects: Int
  }

  private static let storeName = "Recipes.sqlite"
  private static let bundleName = "Recipes.xcdatamodeld"

  /// Writes the store and its model versions; what is there is never replaced.
  ///
  /// - Parameter folder: `nil` for a new one in the temporary folder.
  static func write(to folder: String?, objects: Int) throws -> Written {
    let base = folder.map { $0.count > 1 && $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
    guard let base, FileSystem.isDirectory(base) else {
      // The folder itself is what is made: it is there when all is in it.
      let path = base ?? temporaryPlace + "." + randomLetters()
      guard FileIdentity(of: path) == nil else {
        throw CoreDataError(
          .refused, "it is not a folder", path: path, hint: "Name a folder, or none.")
      }
      let name = FileSystem.name(of: path)
      let output = try PendingOutput(for: path, makesFolders: base != nil)
      let made = try output.folder.createFolder(name, permissions: base == nil ? 0o700 : 0o755)
      let count = try write(into: made.path, objects: objects)
      try output.sync(name)
      try output.finish()
      return written(in: path, objects: count)
    }
    for path in [base, base + "/" + storeName] { PendingOutput.removeAbandoned(beside: path) }
    for path in [base + "/" + storeName, base + "/" + bundleName]
    where FileIdentity(of: path) != nil {
      throw CoreDataError(
        .refused, "the folder has a demo already", path: path,
        hint: "Name another folder, or none for a fresh temporary one.")
    }
    try NewStorePlace.require(base + "/" + storeName)
    let output = try PendingOutput(for: base + "/" + storeName)
    let count = try write(into: output.folder.path, objects: objects)
    try output.sync(bundleName)
    let support = StoreFiles(path: output.path).supportFolder
    try output.finish(with: [bundleName, FileSystem.name(of: support)])
    return written(in: base, objects: count)
  }

  private static var temporaryPlace: String { FileSystem.temporaryFolder + "/strata-demo" }

  private static func randomLetters() -> String {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
    return String((0..<6).map { _ in letters.randomElement() ?? "A" })
  }

  private static func written(in folder: String, objects: Int) -> Written {
    Written(
      store: folder + "/" + storeName, model: folder + "/" + bundleName, objects: objects)
  }

  /// - Returns: how many objects were written.
  private static func write(into folder: String, objects: Int) throws -> Int {
    let versions = try DemoModels.versions()
    let bundle = folder + "/" + bundleName
    for version in versions {
      let path = bundle + "/" + version.name + ".xcdatamodel"
      try FileSystem.makeDirectory(path)
      try FileSystem.create(
        path + "/contents", holding: Array(version.model.xcdatamodelContents().utf8))
    }
    try FileSystem.create(
      bundle + "/.xccurrentversion", holding: Array(currentVersion("Recipes 2.xcdatamodel").utf8))
    guard let first = versions.first else {
      throw CoreDataError(.failed, "the demo has no model")
    }
    return try DemoStore.write(
      to: folder + "/" + storeName, model: first.model, objects: objects)
  }

  private static func currentVersion(_ name: String) -> String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" \
    "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
    <plist version="1.0">
    <dict>
    \t<key>_XCCurrentVersionName</key>
    \t<string>\(name)</string>
    </dict>
    </plist>

    """
  }

  private static func print(_ written: Written, _ console: Console) {
    console.line("\(written.objects) objects, model “Recipes”:  \(written.store)")
    console.line("four model versions:  \(written.model)")
    console.line("try:")
    let (store, model) = (ShellText.quoted(written.store), ShellText.quoted(written.model))
    for command in [
      store, "info \(store)",
      "rows \(store) Recipe --sort createdAt:desc --columns title,author,tags",
      "plan \(store) --to \(model)",
      "plan \(store) --to \(ShellText.quoted(written.model + "@Recipes 3"))",
      "migrate \(store) --to \(model)",
    ] { console.line("  \(OwnName.word) \(command)") }
  }
}
