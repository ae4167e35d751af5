# SPDX-License-Identifier: Apache-2.0
# Formats that are known and not read: each is named as what it is, with the remedy; and what looks similar but is read.
. "$GNN_TOP/tests/lib.sh"
refusing=gnn-import
foreign() { # NAME WHAT REMEDY PRINTF-TEXT: a file of that name and content is WHAT, and REMEDY helps
    printf -- "$4" >"$1"
    status 3 "gnn-import refuses $1" gnn-import "$1" -o S
    what="gnn-import says that $1 is $2, with the remedy"
    if [ "$(wc -l <err)" -eq 1 ] && grep -q "^gnn-import: $1: this is $2 (by its first \(bytes\|lines\)), which is not read; .*$3" err && [ ! -e S ]; then
        _ok "$what"
    else
        _not_ok "$what"
        sed 's/^/# /' err
    fi
    rm -rf S
}
foreign_graph() { # NAME WHAT WHY PRINTF-TEXT: what gnn-import reads is refused if damaged, and by its name beside another input
    printf -- "$4" >"$1"
    refuses 3 "^gnn-import: $1: .*$3" "$1" gnn-import "$1" -o S
    echo 0 1 >e.txt
    refuses 3 "^gnn-import: $1: this is $2 (by its first bytes), which is not read; .*only input" "$1 beside a table" gnn-import e.txt "$1" -o S
}
good() { # NAME PRINTF-TEXT EDGES: is read
    printf -- "$2" >"$1"
    check "gnn-import reads $1" gnn-import --no-provenance --metrics m "$1" -o S
    check "gnn-import finds $3 edges in $1" grep -q "\"input_edges\":$3," m
    rm -rf S
}

# What is packed in another way.
foreign e.csv.bz2 bzip2 bunzip2 'BZh91AY&SY\027\226\262'
foreign e.lzma lzma 'xz -d' '\135\0\0\200\0\377\377\377\377\377\377\377\377\0'
foreign e.lz lzip 'lzip -d' 'LZIP\001\014\0\0'
foreign e.7z 'a 7z archive' '7z x' '7z\274\257\047\034\0\004'
foreign e.rar 'a rar archive' unrar 'Rar!\032\007\001\0'
foreign e.lz4 LZ4 lz4 '\004\042\115\030\144\100\247'
foreign e.sz snappy snzip '\377\006\0\0sNaPpY'
foreign e.Z 'compress (.Z)' 'gzip -d' '\037\235\220\141'
foreign e.zlib zlib joblib.load '\170\234\343\062'
# Tables and arrays.
foreign e.parquet Parquet 'python3 -m gnntools.parquet imports it' 'PAR1\025\004\025\020PAR1'
foreign e.arrow Arrow read_feather 'ARROW1\0\0\377\377\377\377'
foreign e.feather Feather read_feather 'FEA1\0\0\0\0'
foreign e.arrows 'an Arrow stream' pyarrow '\377\377\377\377\170\0\0\0\020\0'
foreign e.orc ORC read_orc 'ORC\012\013\012\003\0'
foreign e.avro Avro fastavro 'Obj\001\004\026avro.schema'
foreign e.h5 HDF5 h5py '\211HDF\r\n\032\n\0\0'
foreign e5.mat 'MATLAB 5' loadmat 'MATLAB 5.0 MAT-file, Platform: GLNXA64, Created on: Mon\0\0'
foreign e7.mat 'MATLAB 7.3' writematrix 'MATLAB 7.3 MAT-file, Platform: GLNXA64, Created on: Mon\0\0'
foreign e.nc NetCDF numpy.savez 'CDF\001\0\0\0\0'
foreign e.sqlite 'an SQLite database' 'sqlite3 -csv' 'SQLite format 3\0\020\0'
foreign e.duckdb 'a DuckDB database' COPY '\001\002\003\004\005\006\007\010DUCK\100\0'
foreign e.xls 'an old Office file (.xls)' 'as CSV' '\320\317\021\340\241\261\032\341\0'
foreign e.xlsx 'an Office file (.xlsx)' 'as CSV' 'PK\003\004\024\0\006\0\010\0\0\0\041\0\0\0\0\0\0\0\0\0\0\0\0\0\023\0\0\0[Content_Types].xml'
foreign e.ods 'an OpenDocument file' 'as CSV' 'PK\003\004\024\0\0\0\0\0\0\0\041\0\0\0\0\0\0\0\0\0\0\0\0\0\010\0\0\0mimetypeapplication/vnd.oasis.opendocument.spreadsheet'
foreign e.rda 'R data' write.csv 'RDX3\nX\n\0\0\0\003'
foreign e.rds 'R data' readRDS 'X\n\0\0\0\003\0\004'
foreign e.dta Stata read_stata '<stata_dta><header>\0'
foreign e.pkl 'a pickle' numpy.savez '\200\004\225\020\0\0\0\0\0\0\0}'
foreign e2.pkl 'a pickle' numpy.savez '\200\002}q\0.'
foreign e0.pkl 'a pickle' numpy.savez '(dp0\nI0\n(lp1\nI1\nas.'
foreign_graph e.pt 'a file of torch.save' 'cut short' 'PK\003\004\0\0\010\010\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\020\0\0\0archive/data.pkl'
foreign_graph old.pt 'a file of torch.save' 'the pickle is cut short' '\200\002\212\012\154\374\234\106\371\040\152\250\120\031.\200\002'
foreign_graph e.bin 'a file of dgl.save_graphs' 'byte 24: the number of graphs: 8 bytes are expected' '\077\241\264\106\360\117\056\335\002\0\0\0\0\0\0\0\002\0\0\0\0\0\0\0'
foreign e.arff ARFF loadarff '%% iris\n@RELATION iris\n@ATTRIBUTE a REAL\n@DATA\n1\n'
foreign e.svm LibSVM load_svmlight '+1 1:0.5 3:1\n-1 2:0.25\n'
foreign e.sql SQL 'as CSV' '-- MySQL dump 10.13\nCREATE TABLE e (a int);\n'
foreign create.sql SQL 'as CSV' 'CREATE TABLE e (a int, b int);\nINSERT INTO e VALUES (1, 2);\n'
# Graphs.
foreign g.gml GML read_gml 'graph [\n  node [ id 0 ]\n  node [ id 1 ]\n  edge [ source 0 target 1 ]\n]\n'
foreign newman.gml GML read_gml 'Creator "Mark Newman on Fri Jul 21"\ngraph\n[\n  directed 0\n  node\n  [ id 1 ]\n]\n'
foreign g.graphml GraphML read_graphml '<?xml version="1.0"?>\n<!-- made by igraph -->\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
foreign one.graphml GraphML read_graphml '<graphml><graph edgedefault="directed"/></graphml>\n'
foreign g.gexf GEXF read_gexf "<?xml version='1.0' encoding='utf-8'?>\n<gexf version=\"1.2\">\n"
foreign g.xgmml XGMML Cytoscape '<?xml version="1.0"?>\n<graph label="g" directed="1">\n'
foreign g.gdf GDF Gephi 'nodedef>name VARCHAR\na\nb\nedgedef>node1 VARCHAR,node2 VARCHAR\na,b\n'
foreign g.dot DOT read_dot 'strict digraph "G" {\n0 -> 1;\n}\n'
foreign c.dot DOT read_dot '// made by hand\ngraph {\n a -- b\n}\n'
foreign one.gv DOT read_dot 'digraph{a->b}\n'
foreign g.net Pajek read_pajek '*Vertices 3\n1 "a"\n2 "b"\n3 "c"\n*Edges\n1 2 1.0\n'
foreign n.net Pajek read_pajek '%% a network\n*network g\n*vertices 2\n1 a\n2 b\n*arcs\n1 2\n'
foreign g.vna VNA 'Tie data' '*Node data\nid\na\nb\n*Tie data\nfrom to\na b\n'
foreign g.dl 'UCINET DL' Read_DL 'DL n=3 format = edgelist1\nlabels:\na,b,c\ndata:\n1 2\n'
foreign out.sym KONECT 'and -u$' '%% sym unweighted\n%% 2 3 3\n1 2\n2 3\n'
foreign out.asym KONECT 'format snap' '%% asym posweighted\n1\t2\t1.5\n2\t3\t2\n'
foreign out.bip KONECT 'edge-type left/to/right$' '%% bip weighted\n%% 3 2 2\n1 1 5\n2 1 4\n2 2 3\n'
check 'gnn-import reads KONECT as that message says' gnn-import --format snap --columns source=1,target=2,weight=3 --edge-type left/to/right -o KONECT out.bip
check 'gnn-import keeps both sides of KONECT apart' sh -c 'gnn-inspect KONECT | grep -q "left/to/right"'
foreign g.lgr LEDA read_leda '#header\nLEDA.GRAPH\nstring\nint\n-1\n2\n|{a}|\n'
foreign g.lgf LEMON '@arcs' '@nodes\nlabel\n0\n1\n@arcs\nlabel\n0 1 0\n'
foreign g.g6 graph6 read_graph6 '>>graph6<<D?{\n'
foreign g.s6 sparse6 read_sparse6 '>>sparse6<<:Fa@x^\n'
foreign g.gr DIMACS awk 'c a road network\np sp 3 2\na 1 2 7\na 2 3 1\n'
foreign g.lg gSpan 'several graphs' 't # 0\nv 0 1\nv 1 1\ne 0 1 2\n'
foreign g.properties WebGraph ASCIIGraph '#BVGraph properties\n#Sat\nnodes=5\n'
# Lists of neighbours.
foreign g.adjlist 'an adjacency list' awk '#/usr/bin/python\n# GMT Fri\n#\n0 1 2\n1 2\n2\n'
foreign colons.txt 'an adjacency list' awk '0: 1 2\n1: 0\n2:\n'
foreign arrows.txt 'an adjacency list' awk 'a -> b c\nb -> a\n'
foreign commas.txt 'an adjacency list' awk '0\t1,2\n1\t0\n'
foreign lightgcn.txt 'an adjacency list' awk '0 0 1 2 3 4\n1 5 6\n2 7 8 9\n'
foreign g.lgl LGL awk '# a\nb 1.5\nc 2\n# b\nc 1\n'
foreign plain.lgl LGL awk '# a\nb\nc\n# b\nc\n'
foreign g.multiline_adjlist 'a multiline adjacency list' read_multiline '#/usr/bin/python\n0 2\n1 {}\n2 {}\n1 0\n2 0\n'
foreign w.multiline_adjlist 'a multiline adjacency list' read_multiline "0 1\n1 {'weight': 3}\n1 0\n"
foreign train2id.txt 'a table under a line with its count' 'tail -n +2' '3\n0 1 0\n1 2 1\n2 0 0\n'
foreign counts.txt 'a table under a line with its count' 'tail -n +2' '3 2\n0 1 5\n1 2 7\n'
# RDF, JSON and the like.
foreign literal.nq N-Quads 'rapper -i nquads' '# a comment\n_:b1 <http://e.org/p> "text with \\"blanks . "@en _:g .\n'
foreign g.nq N-Quads 'rapper -i nquads' '<http://e.org/a> <http://e.org/p> <http://e.org/b> <http://e.org/g> .\n'
foreign g.ttl Turtle 'rapper -i turtle' '@prefix ex: <http://e.org/> .\nex:a ex:p ex:b .\n'
foreign p.ttl Turtle 'rapper -i turtle' 'PREFIX ex: <http://e.org/>\nex:a ex:p ex:b .\n'
foreign g.rdf RDF/XML 'rapper -i rdfxml' '<?xml version="1.0"?>\n<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\n'
foreign g.json 'node-link JSON' node_link_graph '{"directed": false, "nodes": [{"id": 0}],\n "links": []}\n'
foreign d3.json 'node-link JSON' node_link_graph '{\n  "nodes": [{"id": 0}, {"id": 1}],\n  "edges": [{"source": 0, "target": 1}]\n}\n'
foreign e.jsonl 'JSON Lines' 'lines=True' '{"source": 0, "target": 1}\n{"source": 1, "target": 2}\n'
foreign pairs.json JSON 'a line for each edge' '[[0, 1], [1, 2]]\n'
foreign any.json JSON 'a line for each edge' '{"0": [1, 2], "1": [0]}\n'
foreign dict.txt 'a Python literal' 'a line for each edge' "{'a': ['b', 'c'], 'b': []}\n"
foreign ints.txt 'a Python literal' 'a line for each edge' '{0: [1, 2], 1: [0]}\n'
foreign tuples.txt 'a Python literal' 'a line for each edge' '[(0, 1), (1, 2)]\n'
# No data.
foreign paper.pdf 'a PDF document' 'holds the edges' '%%PDF-1.4\n%%\342\343\n'
foreign plot.png 'an image' 'holds the edges' '\211PNG\r\n\032\n\0'
foreign photo.jpg 'an image' 'holds the edges' '\377\330\377\340\0\020JFIF'
foreign plot.svg 'an SVG image' 'holds the edges' '<?xml version="1.0"?>\n<svg width="1">\n'
foreign a.out 'a program' 'holds the edges' '\177ELF\002\001\001\0'
foreign run.sh 'a script' 'holds the edges' '#!/bin/sh\necho 1 2\n'
foreign page.html 'a web page' 'get the file itself' '<!DOCTYPE html>\n<html><body>Sign in</body></html>\n'
foreign edges.txt 'a web page' 'get the file itself' '\n<html>\n<head><title>404 Not Found</title></head>\n'
foreign raw.txt "a web server's answer, and no data" 'get the file itself' '404: Not Found'
foreign other.xml XML 'as a table' '<?xml version="1.0"?>\n<Error><Code>AccessDenied</Code></Error>\n'
foreign lfs.txt 'a pointer of Git LFS' 'git lfs pull' 'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n'
foreign annex.txt 'a pointer of git-annex' 'git annex get' '/annex/objects/SHA256E-s12--4d7a.csv\n'

says() { # NAME PATTERN COMMAND...: status 3 and one line that matches
    what=$1 pattern=$2
    shift 2
    status 3 "$what: status 3" "$@"
    [ "$(wc -l <err)" -eq 1 ] && grep -q "$pattern" err && _ok "$what" || {
        _not_ok "$what"
        sed 's/^/# /' err
    }
}
# A name that tells another format is told, too.
other() { # NAME WHAT END PRINTF-TEXT
    printf -- "$4" >"$1"
    says "gnn-import says that $1 is $2, though its name ends in $3" \
        "$1: this is $2 (by its first [a-z]*, though its name ends in $3), which is not read" gnn-import "$1" -o S
}
other edges.csv Parquet .csv 'PAR1\025\004\025\020PAR1'
other edges.csv.gz 'a web page' .csv '<html></html>\n'
other g.graphml 'node-link JSON' .graphml '{"nodes": [], "links": []}\n'
other g.gml GraphML .gml '<graphml></graphml>\n'
other arrays.npz 'a pickle' .npz '\200\004\225\020\0\0\0\0\0\0\0}'
other g.mtx DOT .mtx 'digraph { a -> b }\n'
other g.graph GML .graph 'graph [ node [ id 0 ] ]\n'
# Packed and in archives they are named as well.
printf 'graph [\n node [ id 0 ]\n]\n' >in.gml
gzip -k in.gml && tar cf in.tar in.gml && tar czf in.tgz in.gml
for f in in.gml.gz in.tar in.tgz; do
    says "gnn-import names the GML in $f" "$f.*: this is GML (by its first lines), which is not read; networkx" gnn-import $f -o S
done
# Text that --format claims is read as that format; what is binary is refused all the same.
printf '3\n0 1\n1 2\n2 0\n' >count.txt
says 'gnn-import --format snap looks for an edge list' 'count.txt: .*\(column\|fields\|source\|target\)' gnn-import --format snap count.txt -o S
printf 'PAR1\025\004PAR1' >b.parquet
says 'gnn-import --format csv names Parquet' 'b.parquet: this is Parquet' gnn-import --format csv b.parquet -o S
# The other programs name them, too.
for p in 'gnn-sample -f 2' 'gnn-train -o X --store' 'gnn-partition -k 2 -o X'; do
    # shellcheck disable=SC2086
    says "${p%% *} names GML in place of a store" 'in.gml: this is GML, not a store; networkx' $p in.gml
done

# What looks similar and is read.
good metis.txt '3 2\n2\n1 3\n2\n' 4
good isolated.txt '4 2\n2\n1 3\n2\n\n' 4
good metis.graph '3 2\n2\n1 3\n2\n' 4
good comments.csv '# source,target\n0,1\n#0,2\n1,2\n' 2
good comments.txt '# source;target\n0;1\n#0;2\n1;2\n' 2
good sections.txt '# train\n0 1\n# test\n1 2\n' 2
good numbers.net '0 1\n1 2\n' 2
good edges.gml '0 1\n1 2\n' 2
good tab.txt '0\t1\n1\t2\n' 2
good blank.txt '  \n0 1\n1 2\n' 2
good quotes.csv '"source","target"\n"0","1"\n' 1
done_testing
