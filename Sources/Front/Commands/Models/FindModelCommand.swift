import JSON
import ManagedModel
import ManagedStore
import ModelSearch

/// `strata find-model`: which model version made a store, or wrote a pasted error, and where it is.
package enum FindModelCommand {
  private static let store = Argument(optional: "STORE", .store)
  private static let paths = Argument(list: "PATH", .file)
  static let log = Option(
    "log", "FILE", .file,
    "take the hashes from a pasted error instead of a store (- is standard input)")
  private static let export = Option(
    "export", "DIR", .folder, "write the model found as DIR/NAME.xcdatamodel")
  package static let command = Command(
    "find-model", .compare, "finds the model version that made a store",
    arguments: [store, paths], options: [log, export, Option.json],
    example: "strata find-model Recipes.sqlite ~/Projects/Recipes --export /tmp",
    statuses: "1 if no model fits", run: run)

  /// Entities that do not fit, of those that are named; JSON has all.
  private static let mostDiffering = 12

  private static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    var paths = arguments[paths]
    var hashes: [String: HashPattern]
    var store: Store?
    var former: [FormerVersion] = []
    if let log = arguments[log] {
      if let first = arguments[Self.store] { paths.insert(first, at: 0) }
      hashes = HashPattern.read(fromLog: try InputText.text(of: log))
      guard !hashes.isEmpty else {
        throw CoreDataError(
          .unreadable, "the text holds no version hashes", path: log,
          hint: "They look like Event = <5431c046 …>; within NSStoreModelVersionHashes.")
      }
    } else {
      guard let path = arguments[Self.store] else {
        throw CoreDataError(
          .usage, "STORE is missing",
          hint: "strata find-model STORE PATH…, or strata find-model --log FILE PATH…")
      }
      let opened = try StoreOpening.open(path)
      store = opened
      hashes = opened.metadata.versionHashes.mapValues(HashPattern.init)
      former = try opened.formerVersions() ?? []
      guard !hashes.isEmpty else {
        throw CoreDataError(
          .unreadable, "the store's metadata has no version hashes to find a model by", path: path)
      }
    }
    guard !paths.isEmpty else {
      throw CoreDataError(
        .usage, "PATH is missing", hint: "Name folders, models or git repositories to look through."
      )
    }
    var search = ModelSearch(
      hashes: hashes, former: Set(former.map(\.digest)), excluding: store?.path)
    for path in paths {
      try Waiting.tell("looking through \(path)", on: console) { try search.look(in: path) }
    }
    let exported = try arguments[export].flatMap { folder in
      RecoveryNotice.write(forOutput: folder + "/Model", to: console)
      let models = search.matches.isEmpty ? search.merged : Array(search.matches.prefix(1))
      let written = try models.map { try $0.export(to: folder) }
      return written.isEmpty ? nil : written.joined(separator: ModelReference.separator)
    }
    arguments[.json]
      ? console.json { write(search, former, exported, &$0) }
      : print(search, former, exported, console)
    let status: CommandStatus = search.matches.isEmpty && search.merged.isEmpty ? .no : .done
    return store.map { console.finish($0, status) } ?? status
  }

  private static func print(
    _ search: ModelSearch, _ former: [FormerVersion], _ exported: String?, _ console: Console
  ) {
    for found in search.matches {
      console.line(
        "\(found.name): all \(found.matching.count) entities have the store's version hashes")
      place(found, console)
    }
    let merged = search.merged
    if !merged.isEmpty {
      console.line(
        "made of \(NumberText.counted(merged.count, "model")): "
          + merged.map { "\($0.name) (\($0.matching.count) entities)" }.joined(separator: " + "))
      for found in merged { place(found, console) }
      let words = merged.compactMap(\.reference).flatMap { Option.model.words($0) }
      if words.count == 2 * merged.count {
        console.note(
          "To read the store with them: " + ShellText.command(["info", "STORE"] + words))
      }
    } else if search.matches.isEmpty {
      if let nearest = search.nearest {
        let total = nearest.matching.count + nearest.differing.count
        console.line(
          nearest.matching.isEmpty
            ? "No model fits: \(nearest.name) shares names of entities with the store, and none of the \(total) fits."
            : "No model fits. The nearest is \(nearest.name): \(nearest.matching.count) of \(total) entities fit."
        )
        place(nearest, console)
        let shown = nearest.differing.prefix(mostDiffering)
        let more = nearest.differing.count - shown.count
        console.line(
          "  differing: " + shown.joined(separator: ", ")
            + (more > 0 ? " and \(NumberText.grouped(more)) more" : ""))
      } else {
        console.line("No model fits, and none has an entity in common.")
      }
    }
    for version in former {
      let date = version.timestamp.map { CoreDataDate.text($0) } ?? "an unknown date"
      let found = search.former[version.digest]
      console.line(
        "before transaction \(version.transaction) (\(date)): \(found?.name ?? "not found, digest \(version.digest)")"
      )
      if let found { place(found, console) }
    }
    if let exported { console.line("written: \(exported)") }
    console.note(
      "searched \(NumberText.counted(search.filesSeen, "file")): \(NumberText.counted(search.modelsRead, "model")), \(search.versionsRead) of them from git history"
    )
    for note in search.notes { console.note("! " + note) }
    console.warn((search.matches + (search.nearest.map { [$0] } ?? [])).flatMap(\.model.warnings))
  }

  private static func place(_ found: FoundModel, _ console: Console) {
    switch found.origin {
    case .file(let path): console.line("  in \(path)")
    case .store(let path): console.line("  in the model cache of \(path)")
    case .git(let origin):
      console.line("  in the history of \(origin.repository): \(origin.path)")
      if let first = origin.first { console.line("    first " + text(first)) }
      if let last = origin.last {
        console.line("    last  " + text(last) + (origin.isCurrent ? " (HEAD has it)" : ""))
      }
    }
  }

  private static func text(_ commit: GitHistory.Commit) -> String {
    "\(commit.id.prefix(12)) \(commit.date.prefix(10)) \(commit.subject)"
  }

  private static func write(
    _ search: ModelSearch, _ former: [FormerVersion], _ exported: String?, _ json: inout JSONWriter
  ) {
    let merged = search.merged
    json.field("found", !search.matches.isEmpty || !merged.isEmpty)
    json.objects("matches", search.matches) { $0.found($1) }
    json.objects("merged", merged) { $0.found($1) }
    json.object("nearest", search.matches.isEmpty && merged.isEmpty ? search.nearest : nil) {
      $0.found($1)
    }
    json.objects("former", former) { json, version in
      json.fields([
        "date": version.timestamp, "digest": version.digest, "transaction": version.transaction,
      ])
      json.object("found", search.former[version.digest]) { $0.found($1) }
    }
    json.field("exported", exported)
    json.object(
      "searched",
      [
        "files": search.filesSeen, "models": search.modelsRead,
        "versionsInHistory": search.versionsRead,
      ])
    json.field("notes", search.notes)
  }
}

extension FoundModel {
  /// What names the model on a command line; `nil` where it is only in git history.
  fileprivate var reference: String? {
    switch origin {
    case .file(let path), .store(let path): path
    case .git: nil
    }
  }
}

extension JSONWriter {
  /// Where a model was found, and what of it fits.
  fileprivate mutating func found(_ found: FoundModel) {
    field("name", found.name)
    let (kind, path, git): (String, String, FoundModel.GitOrigin?) =
      switch found.origin {
      case .file(let path): ("file", path, nil)
      case .store(let path): ("store", path, nil)
      case .git(let origin): ("git", origin.path, origin)
      }
    fields(["kind": kind, "path": path])
    object("git", git) { json, origin in
      json.fields([
        "repository": origin.repository, "blob": origin.blob, "isCurrent": origin.isCurrent,
      ])
      for (name, commit) in [("first", origin.first), ("last", origin.last)] {
        json.object(
          name, commit.map { ["id": $0.id, "date": $0.date, "subject": $0.subject] })
      }
    }
    fields(["matching": found.matching, "differing": found.differing])
  }
}
