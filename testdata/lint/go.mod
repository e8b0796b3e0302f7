module example.com/lint

go 1.26.0
