#!/bin/bash
#SBATCH --nodes=1
#SBATCH --job-name=module
#SBATCH --ntasks=2
#SBATCH --time=5

# A stand-in of the site: modules put a folder in front of PATH.
module() {
  [ "$1" = load ] && mkdir -p "opt/$2/bin" && export PATH="$PWD/opt/$2/bin:$PATH"
}
module load gcc/12
cat > opt/gcc/12/bin/trainer <<'EOF'
#!/bin/sh
echo "trainer of the module, task $SLURM_PROCID"
EOF
chmod +x opt/gcc/12/bin/trainer
srun trainer
