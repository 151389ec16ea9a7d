import Files
import ManagedModel
import ManagedStore

/// Objects written to a folder: a table for each entity, and the files that their attributes hold.
///
/// Every object is in the table of its own entity, once. A Binary value, and a Transformable one that is a file
/// by its content, is written as `files/Entity-p12-property.jpg`, and the table names it.
package struct StoreExport {
  /// What is exported, and how.
  package struct Options: Sendable {
    /// Entities, with those below them; none for all.
    package var entities: [String] = []
    /// NSPredicate text that objects of these entities have to fit.
    package var predicate: String?
    /// Names of properties and key paths; `nil` for all properties.
    package var columns: [String]?
    /// Names of relationships: what the objects reach through them is exported, too.
    package var follow: [String] = []
    package var format = RowFormat.csv
    /// Whether text that a spreadsheet would run gets an apostrophe before it.
    package var quotesFormulas = false

    package init() {}
  }

  /// What was written.
  package struct Report: Sendable, Equatable {
    /// A table, in the order of names.
    package struct Table: Sendable, Equatable {
      package var entity: String
      package var file: String
      package var objects: Int
    }

    package var tables: [Table] = []
    /// Values that became files, and their bytes.
    package var files = 0
    package var bytes = 0
    /// Values in files that are missing or cannot be read, and the first of them as a clause.
    package var missing = 0
    package var firstMissing = ""
    /// Cells that a spreadsheet would take for formulas.
    package var formulas = 0
    /// References through followed relationships to objects that are not there.
    package var dangling = 0

    package var objects: Int { tables.reduce(0) { $0 + $1.objects } }
  }

  private static let page = 500
  private static let piece = 1 << 20
  private static let folderOfFiles = "files"

  private let store: Store
  private let folder: Folder
  private let options: Options
  private let external: ExternalFolder
  private let isCancelled: () -> Bool
  private let progress: (Int) -> Void
  private var report = Report()
  private var files: Folder?
  private var stems: Set<String> = []

  /// Writes into an empty folder.
  ///
  /// - Parameters:
  ///   - isCancelled: asked now and then; `true` ends in a ``CoreDataError`` of kind cancelled.
  ///   - progress: called now and then with the number of objects written.
  /// - Throws: ``CoreDataError`` for names that the store does not have, where the store cannot be read, or the
  ///   folder cannot be written.
  package static func write(
    _ store: Store, to folder: Folder, _ options: Options,
    isCancelled: @escaping () -> Bool = { false }, progress: @escaping (Int) -> Void = { _ in }
  ) throws -> Report {
    var export = StoreExport(store, folder, options, isCancelled, progress)
    try export.run()
    return export.report
  }

  private init(
    _ store: Store, _ folder: Folder, _ options: Options, _ isCancelled: @escaping () -> Bool,
    _ progress: @escaping (Int) -> Void
  ) {
    (self.store, self.folder, self.options) = (store, folder, options)
    (self.isCancelled, self.progress) = (isCancelled, progress)
    external = ExternalFolder(store.files)
  }

  private mutating func run() throws {
    let model = store.model
    for entity in options.entities { _ = try store.columns(of: entity) }
    guard !options.entities.isEmpty || options.predicate == nil && options.follow.isEmpty else {
      throw CoreDataError(
        .usage, "--where and --follow need an entity", path: store.path,
        hint: "Name the entity whose objects the export begins with.")
    }
    var selected: ObjectSet?
    if options.predicate != nil || !options.follow.isEmpty {
      var set = try store.objects(
        of: options.entities, where: options.predicate, isCancelled: isCancelled)
      try store.addReachable(to: &set, through: options.follow, isCancelled: isCancelled)
      selected = set
    }
    let named = options.entities.flatMap { model.subtree(of: $0) }
    var entities = Set(named).union(selected?.entities ?? [])
    if options.entities.isEmpty { entities = Set(model.entities.map(\.name)) }
    let tables = entities.sorted { $0.precedes($1) }.filter { store.table(of: $0) != nil }
    let columns = try self.columns(of: tables)
    for entity in tables {
      // An entity without objects gets a table only if it was named.
      try write(
        entity, columns[entity] ?? [], keys: selected?.keys(of: entity),
        isNamed: options.entities.contains(entity))
    }
  }

  /// The columns of each table: of those that were asked for the ones that the entity has.
  ///
  /// - Throws: ``CoreDataError`` for a name that no entity has.
  private func columns(of entities: [String]) throws -> [String: [RowColumn]] {
    var result: [String: [RowColumn]] = [:]
    guard let names = options.columns else {
      for entity in entities { result[entity] = try store.columns(of: entity) }
      return result
    }
    for name in names where name != "key" {
      var refusal: CoreDataError?
      var isKnown = false
      for entity in entities {
        do {
          result[entity, default: []] += try store.columns([name], of: entity)
          isKnown = true
        } catch let error as CoreDataError {
          refusal = refusal ?? error
        }
      }
      if let refusal, !isKnown { throw refusal }
    }
    return result
  }

  /// Where the value of a column comes from.
  private enum Source {
    case attribute(Int, file: String?)
    case relationship(Int)
    case path(KeyPathReader)
  }

  private func source(
    of column: RowColumn, _ table: EntityTable, _ stems: inout Set<String>
  ) throws -> Source {
    if let index = table.attributes.firstIndex(where: { $0.attribute.name == column.name }) {
      let isData = [.binary, .transformable].contains(table.attributes[index].attribute.type)
      return .attribute(
        index, file: isData ? SafeName.make(of: column.name, besides: &stems) : nil)
    }
    if let index = table.relationships.firstIndex(where: { $0.relationship.name == column.name }) {
      return .relationship(index)
    }
    if case .attribute(let type) = column.kind, type == .binary || type == .transformable {
      throw CoreDataError(
        .usage, "a file cannot be exported through a key path", path: store.path,
        entity: table.entity, property: column.name,
        hint: "Name the entity of the last object itself, or follow the relationship.")
    }
    return .path(try KeyPathReader(column.name, of: table, in: store))
  }

  private mutating func write(
    _ entity: String, _ columns: [RowColumn], keys: [Int64]?, isNamed: Bool
  ) throws {
    // A file's content is copied piece by piece: here its beginning is enough.
    let limit = FileExtension.headLength
    let cursor = try ObjectCursor(
      store, entity: entity, properties: Set(columns.map(\.name)), fileLimit: limit,
      isSeeking: keys != nil)
    var waiting = keys?[...]
    func next() throws -> ObjectCursor.Object? {
      guard waiting != nil else { return try cursor.next() }
      while let key = waiting?.popFirst() {
        if let object = try cursor.object(key) { return object }
        report.dangling += 1
      }
      return nil
    }
    var object = try next()
    guard object != nil || isNamed else { return }
    var properties: Set<String> = []
    let sources = try columns.map { try source(of: $0, cursor.table, &properties) }
    let stem = SafeName.make(of: entity, besides: &stems)
    let name = stem + "." + options.format.fileExtension
    let file = try folder.create(name)
    var writer = options.format.writer(
      isExact: true, quotesFormulas: options.quotesFormulas, blobs: true
    ) { try file.append($0) }
    var page = RowPage(entity: entity, columns: columns, rows: [])
    try writer.begin(page)
    var count = 0
    while let found = object {
      let id = ObjectID(entity: entity, key: found.key)
      let values = try sources.indices.map { place in
        try value(of: sources[place], found, id, stem) { columns[place] }
      }
      page.rows.append(RowPage.Row(id: id, values: values))
      count += 1
      if page.rows.count == Self.page {
        try writer.write(page)
        page.rows.removeAll(keepingCapacity: true)
        try CoreDataError.check(isCancelled, store.path)
        progress(report.objects + count)
      }
      object = try next()
    }
    if !page.rows.isEmpty { try writer.write(page) }
    try writer.end()
    report.formulas += writer.formulas
    report.tables.append(Report.Table(entity: entity, file: name, objects: count))
  }

  private mutating func value(
    of source: Source, _ object: ObjectCursor.Object, _ id: ObjectID, _ stem: String,
    _ column: () -> RowColumn
  ) throws -> PropertyValue {
    switch source {
    case .path(let reader): return try reader.value(of: object.key)
    case .relationship(let index):
      guard object.relationships.indices.contains(index) else { return .value(.null) }
      switch object.relationships[index] {
      case .toOne(let id): return .toOne(id)
      case .toMany(let ids):
        // CSV writes references without a text of each.
        return .toMany(
          options.format == .csv && !ids.isEmpty
            ? ToMany(count: ids.count, first: ids)
            : ToMany(count: ids.count, values: ids.map { .string($0.description) }))
      }
    case .attribute(let index, let file):
      guard object.attributes.indices.contains(index) else { return .value(.null) }
      guard case .data(let data) = object.attributes[index] else { return object.attributes[index] }
      let column = column()
      if let problem = data.location.problem {
        if report.missing == 0 { report.firstMissing = "\(id) \(column.name): \(problem)" }
        report.missing += 1
        return .data(data)
      }
      let kind = FileExtension(
        data.bytes.count > FileExtension.headLength
          ? Array(data.bytes.prefix(FileExtension.headLength)) : data.bytes,
        isWhole: data.bytes.count == data.count
          && data.count <= FileExtension.headLength)
      var isOutside = false
      if case .file = data.location { isOutside = true }
      let isFile =
        column.kind == .attribute(.binary) || isOutside || kind != .bin && kind != .txt
      guard let file, isFile else { return inCell(data) }
      let name = "\(stem)-p\(object.key)-\(file).\(kind.rawValue)"
      try write(data, as: name)
      return .value(.string(Self.folderOfFiles + "/" + name))
    }
  }

  /// Bytes that are no file, in the table itself: as Base64, so that nothing is lost.
  private func inCell(_ data: DataValue) -> PropertyValue {
    switch options.format {
    case .json, .ndjson: .data(data)
    default: .value(.string(ByteText.base64(data.bytes)))
    }
  }

  private mutating func write(_ data: DataValue, as name: String) throws {
    let folder: Folder
    if let files {
      folder = files
    } else {
      folder = try self.folder.createFolder(Self.folderOfFiles)
      files = folder
    }
    let file = try folder.create(name)
    report.files += 1
    guard case .file(let source) = data.location, data.bytes.count < data.count,
      case .file(let opened) = external.place(of: source)
    else {
      try file.append(data.bytes)
      report.bytes += data.bytes.count
      return
    }
    var offset = 0
    while true {
      try CoreDataError.check(isCancelled, store.path)
      let piece = try opened.read(at: offset, count: Self.piece)
      guard !piece.isEmpty else { break }
      try file.append(piece)
      offset += piece.count
    }
    report.bytes += offset
  }
}

extension RowFormat {
  /// What a file of the format is called.
  package var fileExtension: String {
    switch self {
    case .table: "txt"
    case .markdown: "md"
    case .json, .ndjson, .csv: rawValue
    }
  }
}
