import Files
import ManagedModel
import ManagedStore
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

/// osxphotos, a program of others that reads Photos libraries by the names of tables and columns.
enum OtherReader {
  /// A Python that has it, installed once into the package's .build; `nil` where that cannot be done,
  /// such as without network.
  static let python: String? = {
    let parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
    let folder = parts.dropLast(4).joined(separator: "/") + "/.build/osxphotos"
    let python = folder + "/bin/python3"
    func run(_ words: String...) -> Bool {
      (try? OtherProgram("/usr/bin/env", words))?.exitStatus(within: 240) == 0
    }
    if run(python, "-c", "import osxphotos") { return python }
    guard run("python3", "-m", "venv", "--clear", folder),
      run(
        python, "-m", "pip", "install", "--quiet", "--timeout", "15", "--retries", "1", "osxphotos"),
      run(python, "-c", "import osxphotos")
    else { return nil }
    return python
  }()

  /// Everything that it tells of a library, as JSON in a fixed order.
  static let script = """
    import json, sys, osxphotos

    def tidy(value):
        if isinstance(value, dict):
            return {key: tidy(value[key]) for key in sorted(value)}
        if isinstance(value, list):
            return sorted((tidy(each) for each in value), key=json.dumps)
        return value

    library = osxphotos.PhotosDB(dbfile=sys.argv[1])
    photos = library.photos() + library.photos(intrash=True)
    told = {
        "photos": tidy([json.loads(photo.json()) for photo in photos]),
        "albums": tidy([[a.uuid, a.title, ["%03d %s" % (i, p.uuid) for i, p in enumerate(a.photos)]]
                        for a in library.album_info]),
        "folders": tidy([[f.uuid, f.title, [a.uuid for a in f.album_info]]
                         for f in library.folder_info]),
        "persons": tidy([[p.uuid, p.name, [photo.uuid for photo in p.photos]]
                         for p in library.person_info]),
        "keywords": tidy(library.keywords_as_dict),
    }
    with open(sys.argv[2], "w") as file:
        json.dump(told, file, indent=1, sort_keys=True)
    """

  static func read(_ library: String, _ folder: TemporaryFolder) throws -> String {
    let (script, out) = (folder.path("read.py"), folder.path("told.json"))
    try FileSystem.write(Array(Self.script.utf8), to: script)
    let python = try #require(python)
    #expect(try OtherProgram(python, [script, library, out]).exitStatus(within: 240) == 0)
    return String(decoding: try FileSystem.read(out), as: UTF8.self)
  }
}

@Suite(
  "A program of others", .enabled(if: Fixtures.isAvailable, "fixtures are absent"),
  .enabled(if: OtherReader.python != nil, "osxphotos cannot be installed here (python3, network)"))
struct OtherReaderTests {
  @Test(
    "osxphotos reads a Photos library before and after a migration alike",
    .enabled(if: TestScale.isFull, "\(TestScale.condition)"),
    arguments: TestScale.some(1, of: [MigrationPlan.Strategy.inPlace, .copy]))
  func photos(_ strategy: MigrationPlan.Strategy) throws {
    let folder = try TemporaryFolder()
    let library = folder.path("Some.photoslibrary")
    try FileSystem.makeDirectory(library)
    try FileSystem.makeDirectory(library + "/database")
    let path = library + "/database/Photos.sqlite"
    for suffix in ["", "-wal"] {
      try FileSystem.copyOver(
        Fixtures.path("system/Photos-10.15.7.sqlite" + suffix), to: path + suffix)
    }
    let before = try OtherReader.read(library, folder)
    #expect(before.utf8.count > 100_000)
    #expect(before.contains("Pumpkin Farm"))
    let store = try Store(path: path)
    let model = try FixtureStructureTests.model(of: store, adding: "strataNote", to: "Asset")
    let step = MigrationStep(
      from: "before", to: "after", source: store.model, destination: model,
      mapping: try MappingInference.mapping(from: store.model, to: model))
    var plan = try store.plan(steps: [step], strategy: strategy)
    plan.bytesFree = nil
    var options = MigrationOptions()
    options.allowedLosses = Set(plan.losses.map(\.name))
    options.output = folder.path("out.sqlite")
    _ = try StoreMigration.runAndRead(plan, options: options)
    for suffix in ["", "-wal", "-shm"] { FileSystem.remove(path + suffix) }
    try FileSystem.copyOver(folder.path("out.sqlite"), to: path)
    #expect(
      try Store(path: path).model.entity(named: "Asset")?.attribute(named: "strataNote") != nil)
    #expect(try OtherReader.read(library, folder) == before)
  }
}
