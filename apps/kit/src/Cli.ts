process.stderr.write("kit: no commands yet\n")
process.exitCode = 2
